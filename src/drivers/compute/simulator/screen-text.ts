/** A text screen of 53 by 25 characters. Each row has a revision that grows when it changes. */
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

  /** Writes a row and cuts text that is too long. Writing the same text again is not a change. */
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

  /** Returns the revision of the row's last change. */
  rowRevision(row: number): number {
    return this.#rowRevisions[row] ?? 0;
  }
}
