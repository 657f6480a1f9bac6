/**
 * Named crash points: places where tests kill the process to prove that nothing is lost, left half done, or
 * done twice. An unarmed point costs one comparison; points are only armed in a sandbox with SKERRY_CRASH_AT.
 */
export const CRASH_POINTS = [
  'deploy.begun',
  'deploy.written',
  'deploy.answer_kept',
  'deploy.committed',
  'provision.claimed',
  'provision.begun',
  'provision.ensured',
  'provision.install_recorded',
  'provision.observed',
  'provision.running_written',
  'provision.running_recorded',
  'provision.host_failed',
  'provision.host_moved',
  'provision.refund_written',
  'provision.refunded',
  'operation.begun_written',
  'operation.begun',
  'operation.asked',
  'operation.recorded',
  'operation.observed',
  'operation.end_written',
  'operation.ended',
  'reinstall.asked',
  'reinstall.recorded',
  'destroy.begun_written',
  'destroy.begun',
  'destroy.removed',
  'destroy.recorded',
  'topup.numbered',
  'topup.allocated',
  'topup.written',
  'topup.committed',
  'credit.polled',
  'credit.observation_written',
  'credit.written',
  'credit.committed',
  'credit.cursor_saved',
  'credit.reversed',
  'task.claimed',
  'volume.attach_written',
  'volume.ensured',
  'volume.recorded',
  'volume.removed',
  'snapshot.asked',
  'snapshot.recorded',
  'snapshot.removed',
  'rdns.planned',
  'rdns.published',
  'rdns.recorded',
  // Event numbers and queued deliveries are written but not committed; then committed.
  'fanout.written',
  'fanout.committed',
  // Webhooks are leased and nothing is sent; a receiver has responded and nothing is written; the response is
  // written but not committed; then committed; a 410 has paused the webhook but is not committed.
  'deliver.claimed',
  'deliver.answered',
  'deliver.written',
  'deliver.recorded',
  'deliver.paused_written',
  // A cycle is charged and its event written but not committed; then committed.
  'renew.written',
  'renew.committed',
  // Not committed: a server is suspended with its event, mail and operation; a server whose renewal can be
  // paid is charged and resumes; a server whose grace period ended is queued for removal. Then one of these
  // is committed.
  'suspend.written',
  'suspend.resume_written',
  'suspend.destroy_written',
  'suspend.committed',
  'upload.begun',
  'upload.received',
  'upload.on_disk',
  'upload.image_written',
  'upload.image_committed',
  'account.leaving_written',
  'account.leaving',
  'account.belongings_removed',
  'account.forgotten_written',
  'account.forgotten',
  // Mails are claimed and nothing is sent.
  'mail.claimed',
  // SMTP only: the row says `sending`, and the server has not received the text. The mail is never sent
  // again.
  'mail.handed_over',
  // The mailer has the mail, but the row does not say so. The mailbox detects the duplicate; SMTP never
  // resends it.
  'mail.sent',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: CrashPoint | undefined;

/** Arms one point: the process kills itself with SIGKILL when it reaches it. */
export function armCrashPoint(name: string | undefined): void {
  armed = CRASH_POINTS.find((point) => point === name);
}

export function crashPoint(name: CrashPoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
