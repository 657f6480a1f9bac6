/** A screen of text: 53 by 25 letters, each row with a number that grows when the row changes. */
export const COLUMNS = 53;
export const ROWS = 25;

export class ScreenText {
  readonly #rows: string[] = Array.from({ length: ROWS }, () => ' '.repeat(COLUMNS));
  readonly #rowRevisions: number[] = Array.from({ length: ROWS }, () => 1);
  #revision = 1;
  #onChange: () => void = () => undefined;

  /** Called after each change. */
  set onChange(listener: () => void) {
    this.#onChange = listener;
  }

  /** Writes a row; what is too long is cut. A row that says this already does not change. */
  write(row: number, text: string): void {
    const line = text.slice(0, COLUMNS).padEnd(COLUMNS);
    if (this.#rows[row] === line) return;
    this.#rows[row] = line;
    this.#revision += 1;
    this.#rowRevisions[row] = this.#revision;
    this.#onChange();
  }

  row(row: number): string {
    return this.#rows[row] ?? '';
  }

  /** When the row last changed. */
  rowRevision(row: number): number {
    return this.#rowRevisions[row] ?? 0;
  }
}
