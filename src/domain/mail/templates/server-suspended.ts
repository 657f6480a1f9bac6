import type { MailData } from '../../../spec/mails.ts';
import {
  describeTopup,
  formatMonths,
  formatUsd,
  formatUtc,
  type MailContent,
  type MailPanel,
  sanitizeLine,
  serversLink,
  topupLink,
} from './format.ts';

const NOTE_MAX_CHARS = 500;

type Data = MailData['server_suspended'];

export function serverSuspended(data: Data, panel: MailPanel): MailContent {
  const server = sanitizeLine(data.server);
  return {
    subject: `Suspended: ${server}`,
    paragraphs: [
      `Your server ${server} was suspended at ${formatUtc(data.suspendedAt)}: ${describeReason(data)} It is switched off. Its disk and ` +
        'its addresses are kept.',
      ...(data.note ? [`The operator writes: ${sanitizeLine(data.note, NOTE_MAX_CHARS)}`] : []),
      ...resumeInstructions(data, panel),
      ...(data.destroyAt === null
        ? []
        : [
            `If it is still suspended at ${formatUtc(data.destroyAt)}, it is destroyed then, with all data on its disk.`,
          ]),
    ],
  };
}

function describeReason(data: Data): string {
  if (data.reason === 'operator') return 'the operator of this service has stopped it.';
  if (data.reason === 'not_renewed') return 'its prepaid time ended, and it is set not to renew.';
  return (
    `its prepaid time ended, and the balance of ${formatUsd(data.balanceCents)} could not pay the next ` +
    `${formatMonths(data.months)} at ${formatUsd(data.priceCents)}.`
  );
}

/** What its owner can do about a suspended server. */
export function resumeInstructions(
  data: Pick<Data, 'reason' | 'months' | 'priceCents' | 'balanceCents'>,
  panel: MailPanel,
): readonly string[] {
  if (data.reason === 'operator') return ['Only the operator can lift this. Please get in touch.'];
  if (data.reason === 'not_renewed') {
    return [
      `To have it back, start it: that charges ${formatUsd(data.priceCents)} for ${formatMonths(data.months)} from then on.`,
      serversLink(panel),
    ];
  }
  const shortfallCents = data.priceCents - data.balanceCents;
  return [
    `To have it back, top up ${describeTopup(shortfallCents)}. It resumes by itself as soon as the balance suffices, with a new cycle of ` +
      `${formatMonths(data.months)} at ${formatUsd(data.priceCents)} from then on:`,
    topupLink(panel, shortfallCents),
  ];
}
