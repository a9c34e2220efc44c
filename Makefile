# What can be done here: `make help`. Recipes are the scripts of the same name.

# Variables of the command line, by the target that takes them; any other is an error.
TAKES_run := SITE WORKERS REPORT STRICT ARGS
TAKES_example := NAME MODE ARGS
TAKES_test :=
TAKES_test-tsan :=
TAKES_test-portable :=
TAKES_test-containers :=
TAKES_simulate := SEEDS FIRST_SEED
TAKES_chaos := DURATION SEED JOURNAL QUORUM ARGS
TAKES_fuzz := SECONDS_EACH ONLY
TAKES_hostile := MESSAGES ONLY
TAKES_bench := ONLY
TAKES_bench-peers := ONLY
TAKES_compare :=
TAKES_budgets := ACCEPT
TAKES_docs :=
TAKES_api := RECORD
TAKES_build :=
TAKES_clean :=
TAKES_help :=

GOALS := $(or $(MAKECMDGOALS),help)
GIVEN := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
UNKNOWN := $(filter-out $(foreach g,$(GOALS),$(TAKES_$g)),$(GIVEN))
ifneq ($(UNKNOWN),)
$(error unknown variable $(UNKNOWN) for make $(GOALS); see make help)
endif

export SITE WORKERS REPORT STRICT NAME MODE ARGS SEEDS FIRST_SEED DURATION SEED JOURNAL QUORUM SECONDS_EACH ONLY MESSAGES ACCEPT RECORD

.PHONY: help run example test test-portable test-tsan test-containers simulate chaos fuzz hostile bench bench-peers budgets compare docs api build clean

help:
	@cat scripts/help.txt

run: build
	@scripts/run

example:
	@scripts/example

test:
	@scripts/test

test-portable:
	@scripts/test-portable

test-tsan:
	@scripts/test-tsan

test-containers:
	@scripts/test-containers

simulate:
	@scripts/simulate

chaos:
	@scripts/chaos

fuzz:
	@scripts/fuzz

hostile:
	@scripts/hostile

bench:
	@scripts/bench

bench-peers:
	@scripts/bench-peers

budgets:
	@scripts/budgets

compare: build
	@scripts/compare

docs:
	@scripts/docs

api:
	@scripts/api --build $(if $(filter 1,$(RECORD)),--record,--check)

build:
	@scripts/build

clean:
	rm -rf .build
