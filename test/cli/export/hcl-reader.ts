/** Reads the subset of HCL that the export writes, by the rules of HCL for quoted templates. */
import assert from 'node:assert/strict';

export interface Block {
  readonly kind: string;
  readonly name: string | null;
  readonly attributes: Record<string, unknown>;
  readonly blocks: Block[];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

export function readHcl(text: string): readonly Block[] {
  const reader = new Reader(text);
  const root: Block = { kind: 'root', name: null, attributes: {}, blocks: [] };
  while (reader.skipBlank()) reader.readItem(root);
  assert.deepEqual(root.attributes, {});
  return root.blocks;
}

class Reader {
  #at = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  /** Skips blanks and comments; false at the end. */
  skipBlank(): boolean {
    this.#take(/(?:[ \n]|#[^\n]*\n)*/y);
    return this.#at < this.#text.length;
  }

  readItem(parent: Block): void {
    const name = this.#require(/[a-z_0-9]+/y);
    this.#take(/ +/y);
    if (this.#take(/= /y) !== null) {
      assert.ok(!Object.hasOwn(parent.attributes, name), name);
      parent.attributes[name] = this.#readValue();
      this.#require(/\n/y);
      return;
    }
    const label = this.#peek() === '"' ? this.#readString() : null;
    this.#require(/ ?\{\n/y);
    const block: Block = { kind: name, name: label, attributes: {}, blocks: [] };
    parent.blocks.push(block);
    for (this.skipBlank(); this.#peek() !== '}'; this.skipBlank()) this.readItem(block);
    this.#require(/\}\n/y);
  }

  #readValue(): unknown {
    if (this.#peek() === '"') return this.#readString();
    if (this.#take(/\[/y) !== null) return this.#readList(/\]/y, () => this.#readValue());
    if (this.#take(/\{/y) !== null) {
      const entries = this.#readList(/\}/y, () => {
        const key = this.#readString();
        this.#require(/ = /y);
        return [key, this.#readValue()] as const;
      });
      return Object.fromEntries(entries);
    }
    return JSON.parse(this.#require(/true|false|\d+(?:\.\d+)?/y));
  }

  #readList<T>(end: RegExp, read: () => T): T[] {
    const items: T[] = [];
    this.#take(/ /y);
    while (this.#take(end) === null) {
      items.push(read());
      this.#take(/, | /y);
    }
    return items;
  }

  #readString(): string {
    this.#require(/"/y);
    let value = '';
    for (;;) {
      if (this.#take(/"/y) !== null) return value;
      const doubled = this.#take(/\$\$\{|%%\{/y);
      if (doubled !== null) {
        value += doubled.slice(1);
        continue;
      }
      assert.equal(this.#take(/[$%]\{/y), null, 'an expression starts');
      const hex = this.#take(/\\u[0-9a-f]{4}|\\U[0-9a-f]{8}/y);
      if (hex !== null) {
        value += String.fromCodePoint(Number.parseInt(hex.slice(2), 16));
        continue;
      }
      const escaped = this.#take(/\\./y);
      value +=
        escaped === null ? this.#require(/[^\n]/uy) : (ESCAPES[escaped[1] ?? ''] ?? assert.fail(escaped));
    }
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (!found) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #require(pattern: RegExp): string {
    return (
      this.#take(pattern) ?? assert.fail(`${pattern} expected: ${this.#text.slice(this.#at, this.#at + 40)}`)
    );
  }
}
