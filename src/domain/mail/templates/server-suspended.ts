import type { MailData } from '../../../spec/mails.ts';
import {
  months,
  type Panel,
  said,
  serversLink,
  topupLink,
  topupSum,
  usd,
  utc,
  type Written,
} from './words.ts';

const NOTE_MAX_CHARS = 500;

type Data = MailData['server_suspended'];

export function serverSuspended(data: Data, panel: Panel): Written {
  const server = said(data.server);
  return {
    subject: `Suspended: ${server}`,
    paragraphs: [
      `Your server ${server} was suspended at ${utc(data.suspendedAt)}: ${because(data)} It is switched off. Its disk and ` +
        'its addresses are kept.',
      ...(data.note ? [`The operator writes: ${said(data.note, NOTE_MAX_CHARS)}`] : []),
      ...howToResume(data, panel),
      ...(data.destroyAt === null
        ? []
        : [
            `If it is still suspended at ${utc(data.destroyAt)}, it is destroyed then, with all data on its disk.`,
          ]),
    ],
  };
}

function because(data: Data): string {
  if (data.reason === 'operator') return 'the operator of this service has stopped it.';
  if (data.reason === 'not_renewed') return 'its prepaid time ended, and it is set not to renew.';
  return (
    `its prepaid time ended, and the balance of ${usd(data.balanceCents)} could not pay the next ` +
    `${months(data.months)} at ${usd(data.priceCents)}.`
  );
}

/** What its owner can do about a suspended server. */
export function howToResume(
  data: Pick<Data, 'reason' | 'months' | 'priceCents' | 'balanceCents'>,
  panel: Panel,
): readonly string[] {
  if (data.reason === 'operator') return ['Only the operator can lift this. Please get in touch.'];
  if (data.reason === 'not_renewed') {
    return [
      `To have it back, start it: that charges ${usd(data.priceCents)} for ${months(data.months)} from then on.`,
      serversLink(panel),
    ];
  }
  const missingCents = data.priceCents - data.balanceCents;
  return [
    `To have it back, top up ${topupSum(missingCents)}. It resumes by itself as soon as the balance suffices, with a new cycle of ` +
      `${months(data.months)} at ${usd(data.priceCents)} from then on:`,
    topupLink(panel, missingCents),
  ];
}
