"""What is printed at the end."""


class Table:
    def __init__(self):
        self.rows = []
        self.notes = []

    def add(self, what, value, wanted, good):
        """Adds a line. `good` is None for a figure of which nothing is demanded."""
        self.rows.append((what, value, wanted, {True: "ok", False: "FAILED", None: ""}[good]))

    def note(self, text):
        self.notes.append(text)

    @property
    def is_good(self):
        return all(row[3] != "FAILED" for row in self.rows)

    def text(self):
        rows = [("what", "value", "wanted", "")] + self.rows
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines + [""] + self.notes)
