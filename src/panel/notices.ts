/** What a page says was just done. Pages are told by a word in their address, and say nothing to a word that is not here. */
export const NOTICES = {
  saved: 'Saved.',
  created: 'Created.',
  deleted: 'Deleted.',
  server_ordered:
    'The server is ordered and paid. It runs in a minute or two; this page shows its addresses then.',
  server_stopping: 'The server is asked to shut down.',
  server_starting: 'The server is being switched on.',
  server_rebooting: 'The server is being rebooted.',
  server_rebuilding: 'The server is being installed anew. It can be reached when it runs again.',
  server_destroying: 'The server is being destroyed. It is gone once its disk is wiped.',
  key_added: 'The key is added. Choose it when you deploy or rebuild a server.',
  key_deleted: 'The key is deleted. Servers that have it keep it.',
  signed_out: 'You are signed out.',
  volume_created: 'The volume is created. Attach it to a server to use it.',
  volume_attached: 'The volume is being attached; within seconds the server sees the disk.',
  volume_detached: 'The volume is being detached.',
  volume_deleted: 'The volume is deleted, with everything that was on it.',
  snapshot_begun: 'The snapshot is being made.',
  snapshot_deleted: 'The snapshot is deleted.',
  restore_begun:
    'The disk is being overwritten with the snapshot. The server can be reached when it runs again.',
} as const;
export type Notice = keyof typeof NOTICES;

export function noticeText(word: string): string | null {
  return Object.hasOwn(NOTICES, word) ? NOTICES[word as Notice] : null;
}
