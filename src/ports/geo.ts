/** Where an address of the internet belongs. Asked for each caller, so the answer comes from memory. */
export interface Geo {
  /** The country of a public address (ISO 3166-1 alpha-2), or null when it is not known. Never fails. */
  countryOf(address: string): string | null;
}
