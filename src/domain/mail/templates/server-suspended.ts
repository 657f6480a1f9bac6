import type { MailData } from '../../../spec/mails.ts';
import {
  describeTopup,
  formatNextMonths,
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
    subject: `${server} was suspended`,
    paragraphs: [
      `Your server ${server} was suspended at ${formatUtc(data.suspendedAt)}. ${describeReason(data)} ` +
        'It is powered off. Its disk and IP addresses are kept.',
      ...(data.note ? [`Message from our team: ${sanitizeLine(data.note, NOTE_MAX_CHARS)}`] : []),
      ...resumeInstructions(data, panel),
      ...(data.destroyAt === null
        ? []
        : [
            `If it is still suspended at ${formatUtc(data.destroyAt)}, we will delete it, with all data ` +
              'on its disk.',
          ]),
    ],
  };
}

function describeReason(data: Data): string {
  if (data.reason === 'operator') return 'We suspended it manually.';
  if (data.reason === 'not_renewed') return 'Its paid time ended, and its automatic renewal is off.';
  return (
    `Its paid time ended, and your balance of ${formatUsd(data.balanceCents)} did not cover ` +
    `${formatNextMonths(data.months)} (${formatUsd(data.priceCents)}).`
  );
}

/** Returns the steps that the customer can take to resume a suspended server. */
export function resumeInstructions(
  data: Pick<Data, 'reason' | 'months' | 'priceCents' | 'balanceCents'>,
  panel: MailPanel,
): readonly string[] {
  if (data.reason === 'operator') return ['Only our team can lift this suspension. Please contact us.'];
  if (data.reason === 'not_renewed') {
    return [
      `To resume it, start the server. This charges ${formatUsd(data.priceCents)} for ` +
        `${formatNextMonths(data.months)}:`,
      serversLink(panel),
    ];
  }
  const shortfallCents = data.priceCents - data.balanceCents;
  return [
    `To resume it, top up ${describeTopup(shortfallCents)}. It resumes automatically as soon as your ` +
      `balance covers ${formatUsd(data.priceCents)} for ${formatNextMonths(data.months)}:`,
    topupLink(panel, shortfallCents),
  ];
}
