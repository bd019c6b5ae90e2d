"""Reads STC, version 1, as docs/reference/stc.md defines it. Needs Python 3.8 alone.

    loads('{name: "foo", rows[2]{id,ok}: 1,true / 2,false}')

`number` makes a value of a number as it is written, `pairs` one of an object's (key,
value) pairs, if float and dict do not do. What is not STC is a ValueError that says where.
"""
import json
import re

BLANKS = re.compile(r"[ \t\r\n]*")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"')
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COUNT = re.compile(r"\[(0|[1-9][0-9]*)\](?=[:{])")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
WORDS = {"null": None, "true": True, "false": False}


def int_or_float(lexeme):
    return float(lexeme) if re.search("[.eE]", lexeme) else int(lexeme)


def loads(text, number=int_or_float, pairs=dict):
    reader = Reader(text, number, pairs)
    value = reader.value(0)
    reader.match(BLANKS)
    return value if reader.at == len(text) else reader.fail("the end")


class Reader:
    def __init__(self, text, number, pairs):
        self.text, self.at, self.number, self.pairs = text, 0, number, pairs

    def fail(self, expected):
        line, before = self.text.count("\n", 0, self.at), self.text.rfind("\n", 0, self.at)
        raise ValueError(f"{line + 1}:{self.at - before}: expected {expected}")

    def match(self, pattern):
        self.at = BLANKS.match(self.text, self.at).end()
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def eat(self, mark):
        self.match(BLANKS)
        there = self.text.startswith(mark, self.at)
        self.at += len(mark) * there
        return there

    def several(self, between, part, done):
        """Parts with a mark between them, until it is done; `done` gets their number."""
        found = []
        while not done(len(found)):
            not found or self.eat(between) or self.fail(f"`{between}`")
            found.append(part())
        return found

    def key(self):
        string = self.match(STRING)
        name = string or self.match(NAME) or self.fail("a key")
        return json.loads(name[0]) if string else name[0]

    def value(self, depth):
        counted = self.match(COUNT)
        if counted:
            return self.counted(lambda found: found == int(counted[1]))
        if depth == 256:
            self.fail("no more than 256 levels")
        if self.eat("{"):
            member = lambda: self.member(depth + 1)
            return self.pairs(self.several(",", member, lambda _: self.eat("}")))
        if self.eat("["):
            return self.several(",", lambda: self.value(depth + 1), lambda _: self.eat("]"))
        return self.primitive()

    def member(self, depth):
        key = self.key()
        self.match(BLANKS)
        COUNT.match(self.text, self.at) or self.eat(":") or self.fail("`:`")
        return key, self.value(depth)

    def counted(self, done):
        keys = []
        if self.eat("{"):
            keys = self.several(",", self.key, lambda found: found and self.eat("}"))
        self.eat(":") or self.fail("`:`")
        if not keys:
            return self.several(",", self.primitive, done)
        cells = lambda: self.several(",", self.primitive, lambda found: found == len(keys))
        return self.several("/", lambda: self.pairs(list(zip(keys, cells()))), done)

    def primitive(self):
        string = self.match(STRING)
        lexeme = string or self.match(NUMBER)
        if lexeme:
            return json.loads(lexeme[0]) if string else self.number(lexeme[0])
        for word in WORDS:
            if self.eat(word):
                return WORDS[word]
        self.fail("a value, and text in quotes")
