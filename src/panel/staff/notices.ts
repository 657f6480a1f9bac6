/** Confirmations after an act of staff, by the key in the page's URL. An unknown key shows nothing. */
const NOTICES = {
  saved: 'Saved.',
  requested: 'Sent for approval. Another person must approve it before anything changes.',
  approved: 'Approved and carried out.',
  refused: 'The request was refused.',
  frozen: 'The account is frozen. Its servers keep running.',
  unfrozen: 'The account is no longer frozen.',
  credited: 'The balance was credited.',
  debited: 'The balance was debited.',
  deletion_started: 'The account is deleted, or will be as soon as its resources are.',
  totp_off: 'One-time codes are off. The customer was notified.',
  server_frozen: 'The server is frozen and is being powered off.',
  server_held: 'The server is under a legal hold.',
  server_released: 'The server was released.',
  mail_changed: 'The rule for outbound SMTP changed.',
  repeated: 'The form was sent twice, and was done once. See the staff log.',
  not_found: 'No customer was found.',
  published: 'Published on the status page.',
  blackholed: 'The host drops its packets within seconds.',
  lifted: 'Packets pass again within seconds.',
  answered: 'The answer was sent.',
  mailing_started: 'The mailing began. This page shows how far it is.',
  report_sent: 'The report was sent to the customer.',
  nothing_found: 'Nothing was found.',
  begun: 'The work began. Reload the page to see how far it is.',
  released: 'The withheld payments were credited.',
  role_changed: 'The role changed. The person signs in again.',
  disabled: 'The person no longer has access.',
  sessions_ended: 'The sessions of the person ended.',
  token_revoked: 'The API token no longer works.',
  password_changed: 'Your password changed. Your other sessions ended.',
  passkey_added: 'The passkey was added. You can sign in with it.',
  passkey_removed: 'The passkey no longer works.',
  signed_out: 'You are signed out.',
  session_over: 'Your session ended, so nothing was changed. Sign in to continue.',
} as const;

export type ConsoleNotice = keyof typeof NOTICES;

export function consoleNotice(key: string): string | null {
  return Object.hasOwn(NOTICES, key) ? NOTICES[key as ConsoleNotice] : null;
}
