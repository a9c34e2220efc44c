"""Reads the vectors of the specification (section 13), and writes each of them again."""

from loop_conform import wire


def again(name: str, data: bytes) -> tuple[str, bytes]:
    """What a vector says, and its bytes as this package writes them."""
    kind, _, what = name.partition(": ")
    if kind == "topic":
        topic, rest = wire.split_topic(data + b"rest")
        assert rest == b"rest"
        loop = int.from_bytes(topic[:8], "little")
        return topic[10:11].decode(), wire.topic(loop, topic[10:11], topic[11:])
    if what.startswith("batch"):
        loop, batch = wire.read_batch(data)
        return str(batch), wire.batch(loop, batch)
    if kind == "peer":
        loop, message = wire.read_to_reducer(data)
        return str(message), wire.to_reducer(loop, message)
    topic = b""
    if what.endswith("in its inbox"):
        topic, data = wire.split_topic(data)
    header, message = wire.read_to_peer(data)
    return str(message), wire.to_peer(header, message, topic)


def check(path: str) -> int:
    """Prints what each vector says; 1 where one is not read, or not written as it is."""
    wrong = 0
    seen = set()
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        name, _, digits = line.partition("; ")
        data = bytes.fromhex(digits)
        try:
            said, written = again(name, data)
        except wire.Malformed as error:
            said, written = f"not read: {error}", b""
        seen.add(name.partition(": ")[0] + " " + said.partition("(")[0])
        if written != data:
            wrong += 1
            said += f" WRITTEN AS {written.hex()}"
        print(f"{name}: {said}")
    kinds = {f"peer {cls.__name__}" for cls in wire.TO_REDUCER.values()} | {"peer Batch"}
    kinds |= {f"reducer {cls.__name__}" for cls in wire.TO_PEER.values()}
    for kind in sorted(kinds - seen):
        wrong += 1
        print(f"{kind}: NO VECTOR")
    print(f"{len(lines)} vectors, {wrong} wrong")
    return 1 if wrong else 0
