"""The worker of the loop `conform` as a program: each order tells its effect what to do (docs/conformance.md)."""

from __future__ import annotations

from dataclasses import dataclass

from loop_worker import Case, Effect, Fail, Refused, Retry, Worker


@dataclass
class Order:
    number: int
    does: str
    count: int
    text: str


class Said(Case):
    number: int
    text: str


class Done(Case):
    number: int
    text: str


worker = Worker("conform")


@worker.effect("order")
async def order(wanted: Order, me: Effect) -> Done | None:
    text = wanted.text
    if wanted.does == "say":
        for index in range(wanted.count):
            await me.send(Said(wanted.number, str(index)))
        return None
    if wanted.does == "fail":
        if me.failures < wanted.count:
            raise Retry(text)
        text = str(me.failures)
    elif wanted.does == "later":
        if me.failures == 0:
            raise Retry(text, after=wanted.count / 1000)
        text = str(me.failures)
    elif wanted.does == "never":
        raise Fail(text)
    elif wanted.does in ("wait", "progress"):
        if wanted.does == "progress":
            me.progress(0.5, text)
        async for _ in me.requests():
            pass
        return None
    elif wanted.does == "follow":
        async for newer in me.requests():
            text = newer.text
            if text == "end":
                break
    elif wanted.does == "confirm":
        try:
            text = str(await me.confirm(Said(wanted.number, text)))
        except Refused:
            text = "refused"
        await me.send(Done(wanted.number, text))
        return None
    elif wanted.does == "wide":
        text = "x" * wanted.count
    return Done(wanted.number, text)


if __name__ == "__main__":
    worker.main()
