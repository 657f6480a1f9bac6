/** What a page says was just done. Pages are told by a word in their address, and say nothing to a word that is not here. */
export const NOTICES = {
  saved: 'Saved.',
  created: 'Created.',
  deleted: 'Deleted.',
  key_added: 'The key is added. Choose it when you deploy or rebuild a server.',
  key_deleted: 'The key is deleted. Servers that have it keep it.',
} as const;
export type Notice = keyof typeof NOTICES;

export function noticeText(word: string): string | null {
  return Object.hasOwn(NOTICES, word) ? NOTICES[word as Notice] : null;
}
