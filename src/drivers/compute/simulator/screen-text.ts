/** The text on the simulated screen: a boot text, a login prompt, and the typed keys. */
export const COLUMNS = 53;
export const ROWS = 25;

/** The facts that the screen shows about its machine, read again for every refresh. */
export interface ScreenFacts {
  readonly hostname: string;
  /** The state as observed by the driver. */
  readonly state: string;
  /** The system on the disk, such as `debian 13`. */
  readonly image: string;
  readonly ipv4: string;
  readonly ipv6: string;
  /** Whether it runs the rescue system. */
  readonly rescue: boolean;
  readonly bootedAt: Date;
}

const MARGIN = '  ';
const PROMPT_ROW = 10;
const INPUT_MAX = 24;
const HOSTNAME_MAX = 18;

/** X keysyms. Both keys of a kind count. */
const BACKSPACE = [0xff08];
const ENTER = [0xff0d, 0xff8d];
const DELETE = [0xffff, 0xff9f];
const CONTROL = [0xffe3, 0xffe4];
const ALT = [0xffe9, 0xffea];

export class ScreenText {
  readonly #heldModifiers = new Set<number>();
  #facts: ScreenFacts;
  #lines: string[] = [];
  #input = '';

  constructor(facts: ScreenFacts) {
    this.#facts = facts;
  }

  /** Shows the machine's current facts. A reboot clears the typed text. */
  show(facts: ScreenFacts): void {
    if (facts.bootedAt.getTime() !== this.#facts.bootedAt.getTime()) {
      this.#lines = [];
      this.#input = '';
    }
    this.#facts = facts;
  }

  /** Returns all rows of the screen, each `COLUMNS` long. */
  rows(): string[] {
    const { hostname, state, rescue, image, ipv4, ipv6 } = this.#facts;
    const bootText = [
      '',
      'A simulated machine. Input is not stored.',
      '',
      `machine  ${hostname}`,
      `state    ${rescue ? `${state}, rescue system` : state}`,
      `image    ${image}`,
      `IPv4     ${ipv4}`,
      `IPv6     ${ipv6}`,
    ];
    const dialog = state === 'running' ? [...this.#lines, `${this.#prompt()}${this.#input}_`] : [];
    return Array.from({ length: ROWS }, (_, row) => {
      const line = bootText[row] ?? dialog[row - PROMPT_ROW] ?? '';
      return `${MARGIN}${line}`.slice(0, COLUMNS).padEnd(COLUMNS);
    });
  }

  key(keysym: number, down: boolean): void {
    if (CONTROL.includes(keysym) || ALT.includes(keysym)) {
      if (down) this.#heldModifiers.add(keysym);
      else this.#heldModifiers.delete(keysym);
    } else if (down) {
      this.#press(keysym);
    }
  }

  #press(keysym: number): void {
    const [control, alt] = [CONTROL, ALT].map((keys) => keys.some((key) => this.#heldModifiers.has(key)));
    if (control && alt && DELETE.includes(keysym)) {
      this.#append('Ctrl-Alt-Del received.');
    } else if (ENTER.includes(keysym)) {
      this.#append(`${this.#prompt()}${this.#input}`);
      if (this.#input.trim() !== '') this.#append('Login incorrect.');
      this.#input = '';
    } else if (BACKSPACE.includes(keysym)) {
      this.#input = this.#input.slice(0, -1);
    } else if (keysym >= 0x20 && keysym < 0x7f && !control && this.#input.length < INPUT_MAX) {
      this.#input += String.fromCharCode(keysym);
    }
  }

  #append(line: string): void {
    this.#lines = [...this.#lines, line].slice(PROMPT_ROW + 1 - ROWS);
  }

  #prompt(): string {
    const { hostname, rescue } = this.#facts;
    return `${hostname.slice(0, HOSTNAME_MAX)} ${rescue ? 'rescue' : 'login'}: `;
  }
}
