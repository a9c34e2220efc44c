# Builds the three executables with the Swift runtime inside, and puts them on a small Debian with the libraries
# that they load.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      pkg-config libzmq3-dev libsqlite3-dev libpq-dev zlib1g-dev libmicrohttpd-dev libcurl4-openssl-dev libidn2-dev libcmark-gfm-dev libcmark-gfm-extensions-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /loop
# The manifest then names no tests and no fuzzers: their folders are not here.
ENV LOOP_PROGRAMS_ONLY=1
COPY Package.swift ./
COPY Sources Sources
COPY Examples Examples
RUN swift build -c release --static-swift-stdlib --product loop-reducer \
 && swift build -c release --static-swift-stdlib --product loop-effect \
 && swift build -c release --static-swift-stdlib --product loopctl \
 && mkdir /out \
 && cp .build/release/loop-reducer .build/release/loop-effect .build/release/loopctl /out/ \
 && strip /out/*

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates libcmark-gfm0.29.0.gfm.6 libcmark-gfm-extensions0.29.0.gfm.6 libcurl4 libidn2-0 libmicrohttpd12 libpq5 libsqlite3-0 libzmq5 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin loop \
 && install -d -m 700 -o loop -g loop /journal /keys /keys/reducer /keys/worker
COPY --from=build /out/ /usr/local/bin/
# Reducers keep their journals here. Volumes of keys are mounted below /keys, and get the owner and the mode of these folders.
VOLUME /journal
WORKDIR /journal
USER 10001
# The reducer's three sockets (7710 is the one to tell people) and the site's port.
EXPOSE 7710 7711 7712 8080
CMD ["loopctl", "--help"]
