from loop_worker import Effect, Worker

worker = Worker("ledger")


@worker.effect("book")
async def book(booking: dict, me: Effect) -> dict:
    print("booking", booking["deposit"], "as", me.key, flush=True)
    await me.send({"begun": {"deposit": booking["deposit"], "slip": me.failures}})
    return {"booked": {"deposit": booking["deposit"], "slip": me.failures}}


if __name__ == "__main__":
    worker.main()
