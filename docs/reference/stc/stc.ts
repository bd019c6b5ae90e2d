/**
 * Reads STC, version 1, as docs/reference/stc.md defines it. Needs no package.
 *
 *     parse('{name: "foo", rows[2]{id,ok}: 1,true / 2,false}')
 *
 * `number` makes a value of a number as it is written, `object` one of an object's
 * [key, value] pairs, for those who need more than a double and an object hold.
 * What is not STC is a SyntaxError with line and column.
 */

type Pairs = [string, unknown][];
export type Options = { number?: (lexeme: string) => unknown; object?: (pairs: Pairs) => unknown };

const BLANKS = /[ \t\r\n]*/y;
const STRING = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const COUNT = /\[(0|[1-9][0-9]*)\](?=[:{])/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])/y;
const WORDS = new Map<string, unknown>([["null", null], ["true", true], ["false", false]]);

export function parse(text: string, options: Options = {}): unknown {
  const number = options.number ?? Number;
  const object = options.object ?? ((pairs: Pairs) => Object.fromEntries(pairs));
  let at = 0;

  const result = value(0);
  match(BLANKS);
  return at === text.length ? result : fail("the end");

  function fail(expected: string): never {
    const lines = text.slice(0, at).split("\n");
    const column = lines[lines.length - 1].length + 1;
    throw new SyntaxError(`${lines.length}:${column}: expected ${expected}`);
  }

  function match(pattern: RegExp): RegExpExecArray | null {
    BLANKS.lastIndex = at;
    BLANKS.exec(text);
    pattern.lastIndex = at = BLANKS.lastIndex;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  }

  function eat(mark: string): boolean {
    match(BLANKS);
    const there = text.startsWith(mark, at);
    if (there) at += mark.length;
    return there;
  }

  /** Parts with a mark between them, until it is done; `done` gets their number. */
  function several<T>(between: string, part: () => T, done: (found: number) => boolean): T[] {
    const found: T[] = [];
    while (!done(found.length)) {
      if (found.length > 0 && !eat(between)) fail(`\`${between}\``);
      found.push(part());
    }
    return found;
  }

  function key(): string {
    const string = match(STRING);
    return string ? JSON.parse(string[0]) : (match(NAME) ?? fail("a key"))[0];
  }

  function value(depth: number): unknown {
    const counted = match(COUNT);
    if (counted) return rows((found) => found === Number(counted[1]));
    if (depth === 256) fail("no more than 256 levels");
    if (eat("{")) return object(several(",", () => member(depth + 1), () => eat("}")));
    return eat("[") ? several(",", () => value(depth + 1), () => eat("]")) : primitive();
  }

  function member(depth: number): [string, unknown] {
    const name = key();
    match(BLANKS);
    COUNT.lastIndex = at;
    if (!COUNT.test(text) && !eat(":")) fail("`:`");
    return [name, value(depth)];
  }

  function rows(done: (found: number) => boolean): unknown[] {
    const keys = eat("{") ? several(",", key, (found) => found > 0 && eat("}")) : null;
    if (!eat(":")) fail("`:`");
    if (!keys) return several(",", primitive, done);
    const cells = () => several(",", primitive, (found) => found === keys.length);
    const row = (): Pairs => cells().map((cell, at) => [keys[at], cell]);
    return several("/", () => object(row()), done);
  }

  function primitive(): unknown {
    const string = match(STRING);
    const lexeme = string ? null : match(NUMBER);
    if (string || lexeme) return string ? JSON.parse(string[0]) : number(lexeme![0]);
    for (const [word, meant] of WORDS) if (eat(word)) return meant;
    return fail("a value, and text in quotes");
  }
}
