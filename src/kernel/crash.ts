/**
 * Named crash points: places where a process may be killed in a test to prove that nothing is lost, half done or
 * done twice. Unarmed (always, outside a sandbox that sets SKERRY_CRASH_AT) a point costs one comparison.
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
  // Numbers and queued deliveries are written, and not committed; are committed.
  'fanout.written',
  'fanout.committed',
  // Subscriptions are leased, nothing is sent; a receiver has answered, nothing is written; what it answered is written, and
  // not committed; is committed; a 410 has paused the subscription, not committed.
  'deliver.claimed',
  'deliver.answered',
  'deliver.written',
  'deliver.recorded',
  'deliver.paused_written',
  // A cycle is charged and its event written, not committed; is committed.
  'renew.written',
  'renew.committed',
  // A server is suspended with its event, mail and operation; one that could be paid is charged and resumes; one whose
  // grace period ended is given to its removal: none of it committed. One of these is.
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
  // Mails are claimed; nothing is sent.
  'mail.claimed',
  // Over SMTP only: the row says `sending`, and the server has nothing of the text. It is never sent again.
  'mail.handed_over',
  // The mailer has it, and the row does not say so. The letter box knows it again; over SMTP it is not sent again.
  'mail.sent',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

let armed: CrashPoint | undefined;

/** Arms one point; the process dies with SIGKILL when it gets there. */
export function armCrashPoint(name: string | undefined): void {
  armed = CRASH_POINTS.find((point) => point === name);
}

export function crashPoint(name: CrashPoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
