"""The worker of the ledger as a program."""

from conftest import clerk

if __name__ == "__main__":
    clerk().main()
