/** What the simulated screen says: a few lines about its machine, and below them a prompt that answers. */
import type { ScreenFacts } from './screen-facts.ts';
import { CURSOR } from './screen-font.ts';
import { COLUMNS, ROWS, type ScreenText } from './screen-text.ts';

const FIRST_LINE = 11;
const LINES = ROWS - FIRST_LINE;
const INPUT_MAX = 24;
const MARGIN = '  ';

const KEY = {
  backspace: [0xff08],
  enter: [0xff0d, 0xff8d],
  delete: [0xffff, 0xff9f],
  control: [0xffe3, 0xffe4],
  alt: [0xffe9, 0xffea],
} as const satisfies Record<string, readonly number[]>;

const ANSWERS: Readonly<Record<string, (desk: { readonly up: string }) => string>> = {
  help: () => 'help, uptime, poweroff, clear; nothing else.',
  uptime: ({ up }) => `up ${up}`,
  poweroff: () => 'Not from here: POST /v1/servers/{id}/stop.',
};

export class ScreenDesk {
  readonly #text: ScreenText;
  readonly #down = new Set<number>();
  #facts: ScreenFacts | null = null;
  #up = '';
  #input = '';
  #lines: string[] = [];

  constructor(text: ScreenText) {
    this.#text = text;
  }

  /** Shows the machine as it is now; what was typed goes when it was booted again. */
  show(facts: ScreenFacts, now: Date): void {
    if (this.#facts && this.#facts.bootedAt.getTime() !== facts.bootedAt.getTime()) {
      this.#lines = [];
      this.#input = '';
    }
    this.#facts = facts;
    this.#up = timeSince(facts.bootedAt, now);
    const { hostname, state, rescue, image, ipv4, ipv6 } = facts;
    const shown: [string, string][] = [
      ['machine', hostname],
      ['state', rescue ? `${state}, rescue system` : state],
      ['image', image],
      ['IPv4', ipv4],
      ['IPv6', ipv6],
      ['up', state === 'running' ? this.#up : '-'],
    ];
    this.#text.write(1, `${MARGIN}A simulated machine. Typed text stays here.`);
    shown.forEach(([name, value], index) => {
      this.#text.write(3 + index, `${MARGIN}${name.padEnd(9)}${value}`);
    });
    this.#draw();
  }

  /** A key of the viewer's went down or up. */
  key(keysym: number, down: boolean): void {
    if (!down) this.#down.delete(keysym);
    else this.#press(keysym);
    this.#draw();
  }

  #press(keysym: number): void {
    // A viewer may lose the release of a key; the few that matter are all that is remembered.
    if (isOne(keysym, KEY.control) || isOne(keysym, KEY.alt)) this.#down.add(keysym);
    const control = KEY.control.some((key) => this.#down.has(key));
    const alt = KEY.alt.some((key) => this.#down.has(key));
    if (control && alt && isOne(keysym, KEY.delete)) {
      this.#say('Ctrl-Alt-Del was heard.');
    } else if (control && keysym === 'c'.charCodeAt(0)) {
      this.#input = '';
    } else if (isOne(keysym, KEY.enter)) {
      this.#enter();
    } else if (isOne(keysym, KEY.backspace)) {
      this.#input = this.#input.slice(0, -1);
    } else if (keysym >= 0x20 && keysym < 0x7f && !control && this.#input.length < INPUT_MAX) {
      this.#input += String.fromCharCode(keysym);
    }
  }

  #enter(): void {
    const typed = this.#input.trim();
    this.#input = '';
    if (typed === 'clear') {
      this.#lines = [];
      return;
    }
    this.#say(`${this.#prompt()}${typed}`);
    if (typed === '') return;
    const answer = Object.hasOwn(ANSWERS, typed) ? ANSWERS[typed]?.({ up: this.#up }) : undefined;
    this.#say(answer ?? 'Login incorrect. This prompt knows: help');
  }

  #say(line: string): void {
    this.#lines = [...this.#lines, line].slice(1 - LINES);
  }

  #prompt(): string {
    const word = this.#facts?.rescue ? 'rescue' : 'login';
    const room = COLUMNS - MARGIN.length - word.length - ' : '.length - INPUT_MAX - CURSOR.length;
    return `${(this.#facts?.hostname ?? '').slice(0, room)} ${word}: `;
  }

  #draw(): void {
    const running = this.#facts?.state === 'running';
    const prompt = running ? `${this.#prompt()}${this.#input}${CURSOR}` : '';
    const lines = running ? [...this.#lines, prompt] : [];
    for (let line = 0; line < LINES; line += 1) {
      this.#text.write(FIRST_LINE + line, `${MARGIN}${lines[line] ?? ''}`);
    }
  }
}

function isOne(keysym: number, keys: readonly number[]): boolean {
  return keys.includes(keysym);
}

function timeSince(then: Date, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / (24 * 60))} days ${Math.floor(minutes / 60) % 24} h`;
}
