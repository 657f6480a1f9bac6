/** The text on the simulated screen: facts about the machine, and a prompt that answers. */
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

const RESPONSES: Readonly<Record<string, (terminal: { readonly up: string }) => string>> = {
  help: () => 'Commands: help, uptime, poweroff, clear.',
  uptime: ({ up }) => `up ${up}`,
  poweroff: () => 'Not available here. Use POST /v1/servers/{id}/stop.',
};

export class ScreenTerminal {
  readonly #text: ScreenText;
  readonly #pressedKeys = new Set<number>();
  #facts: ScreenFacts | null = null;
  #uptime = '';
  #input = '';
  #lines: string[] = [];

  constructor(text: ScreenText) {
    this.#text = text;
  }

  /** Shows the machine's current facts. A reboot clears the typed text. */
  show(facts: ScreenFacts, now: Date): void {
    if (this.#facts && this.#facts.bootedAt.getTime() !== facts.bootedAt.getTime()) {
      this.#lines = [];
      this.#input = '';
    }
    this.#facts = facts;
    this.#uptime = formatUptime(facts.bootedAt, now);
    const { hostname, state, rescue, image, ipv4, ipv6 } = facts;
    const fields: [string, string][] = [
      ['machine', hostname],
      ['state', rescue ? `${state}, rescue system` : state],
      ['image', image],
      ['IPv4', ipv4],
      ['IPv6', ipv6],
      ['up', state === 'running' ? this.#uptime : '-'],
    ];
    this.#text.write(1, `${MARGIN}A simulated machine. Input is not stored.`);
    fields.forEach(([name, value], index) => {
      this.#text.write(3 + index, `${MARGIN}${name.padEnd(9)}${value}`);
    });
    this.#draw();
  }

  /** Handles a key press or release. */
  key(keysym: number, down: boolean): void {
    if (!down) this.#pressedKeys.delete(keysym);
    else this.#press(keysym);
    this.#draw();
  }

  #press(keysym: number): void {
    // A viewer may lose the release of a key, so track only the modifiers that matter.
    if (isKey(keysym, KEY.control) || isKey(keysym, KEY.alt)) this.#pressedKeys.add(keysym);
    const control = KEY.control.some((key) => this.#pressedKeys.has(key));
    const alt = KEY.alt.some((key) => this.#pressedKeys.has(key));
    if (control && alt && isKey(keysym, KEY.delete)) {
      this.#appendLine('Ctrl-Alt-Del received.');
    } else if (control && keysym === 'c'.charCodeAt(0)) {
      this.#input = '';
    } else if (isKey(keysym, KEY.enter)) {
      this.#enter();
    } else if (isKey(keysym, KEY.backspace)) {
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
    this.#appendLine(`${this.#prompt()}${typed}`);
    if (typed === '') return;
    const response = Object.hasOwn(RESPONSES, typed) ? RESPONSES[typed]?.({ up: this.#uptime }) : undefined;
    this.#appendLine(response ?? 'Login incorrect. Try: help');
  }

  #appendLine(line: string): void {
    this.#lines = [...this.#lines, line].slice(1 - LINES);
  }

  #prompt(): string {
    const mode = this.#facts?.rescue ? 'rescue' : 'login';
    const hostnameMax = COLUMNS - MARGIN.length - mode.length - ' : '.length - INPUT_MAX - CURSOR.length;
    return `${(this.#facts?.hostname ?? '').slice(0, hostnameMax)} ${mode}: `;
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

function isKey(keysym: number, keys: readonly number[]): boolean {
  return keys.includes(keysym);
}

function formatUptime(since: Date, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - since.getTime()) / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const days = Math.floor(minutes / (24 * 60));
  return `${days} ${days === 1 ? 'day' : 'days'} ${Math.floor(minutes / 60) % 24} h`;
}
