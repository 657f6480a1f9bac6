/** What a page says was just done. Pages are told by a word in their address, and say nothing to a word that is not here. */
export const NOTICES = {
  session_over: 'You were signed out by then, so nothing was done. Sign in to go on.',
  saved: 'Saved.',
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
  confirmation_mailed: 'Another mail with a link is on its way. The link works for three days.',
  email_confirmed: 'Your address is confirmed already.',
  email_changed: 'Your e-mail address is changed.',
  email_pending: 'We have mailed a link to the new address. Until it is used, the present one stays.',
  password_changed: 'Your password is changed. All other sessions have ended.',
  openpgp_set: 'Mails to you are encrypted to this key from now on.',
  openpgp_removed: 'The key is removed. Mails to you are no longer encrypted.',
  totp_on: 'One-time codes are on. Signing in asks for one from now on.',
  totp_off: 'One-time codes are off. Signing in asks for the password only.',
  session_ended: 'The session has ended.',
  sessions_ended: 'All other sessions have ended.',
  token_revoked: 'The token is revoked. It is refused from now on.',
  volume_created: 'The volume is created. Attach it to a server to use it.',
  volume_attached: 'The volume is being attached; within seconds the server sees the disk.',
  volume_detached: 'The volume is being detached.',
  volume_deleted: 'The volume is deleted, with everything that was on it.',
  snapshot_begun: 'The snapshot is being made.',
  snapshot_deleted: 'The snapshot is deleted.',
  restore_begun:
    'The disk is being overwritten with the snapshot. The server can be reached when it runs again.',
  group_created: 'The group is created. Give it rules, then apply it to servers.',
  group_deleted: 'The group is deleted.',
  rules_saved: 'The rules are saved. The servers that have the group follow within seconds.',
  rule_added: 'The rule is added at the end.',
  rule_removed: 'The rule is removed.',
  image_uploaded: 'The image is uploaded. Choose it when you deploy or rebuild a server.',
  image_deleted: 'The image is deleted. Servers that were installed from it keep running.',
  ping_queued: 'A ping is on its way; see below what becomes of it.',
  replay_queued: 'The event is sent again; see below what becomes of it.',
  webhook_deleted: 'The webhook is deleted. Nothing more is sent to it.',
  topup_made: 'The address is yours for this top-up, and its rate is kept.',
  topup_cancelled: 'The top-up is cancelled.',
} as const;
export type Notice = keyof typeof NOTICES;

export function noticeText(word: string): string | null {
  return Object.hasOwn(NOTICES, word) ? NOTICES[word as Notice] : null;
}
