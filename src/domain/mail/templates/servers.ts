/** Mail about the life of a server: when it ends, is suspended, and is deleted. */
import type { MailData } from '../../../spec/mails/data.ts';
import {
  describeTopup,
  formatDays,
  formatMonths,
  formatNextMonths,
  formatUsd,
  formatUtc,
  type MailPanel,
  type MailTemplates,
  sanitizeLine,
  serversLink,
  topupLink,
} from './format.ts';

const NOTE_MAX_CHARS = 500;

export const SERVER_MAILS = {
  server_ends(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: `${server} will not renew`,
      paragraphs: [
        `Your server ${server} is paid until ${formatUtc(data.paidUntil)}, and its automatic renewal is ` +
          'off. At that time, we will suspend it: we power it off, keep its disk and IP addresses for a ' +
          'limited time, and then delete it.',
        ...protectionParagraphs(data),
        'To keep it running, turn on automatic renewal before then (auto_renew in the API). Your balance ' +
          `then pays ${formatUsd(data.priceCents)} for ${formatMonths(data.months)}.`,
        serversLink(panel),
        "If you no longer need it, you don't need to do anything.",
      ],
    };
  },

  server_suspended(data, panel) {
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
              ...protectionParagraphs(data),
            ]),
      ],
    };
  },

  destruction_warning(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: `${server} will be deleted in ${formatDays(data.days)}`,
      paragraphs: [
        `Your server ${server} is suspended. If it is still suspended at ${formatUtc(data.destroyAt)}, we ` +
          'will delete it: its disk is wiped and its IP addresses are released. This cannot be undone. ' +
          'Volumes and snapshots are kept.',
        ...protectionParagraphs(data),
        ...resumeInstructions(data, panel),
        "If you no longer need it, you don't need to do anything.",
      ],
    };
  },

  server_destroyed(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: `${server} was deleted`,
      paragraphs: [
        `Your server ${server} was suspended at ${formatUtc(data.suspendedAt)} ` +
          `${causeOfSuspension(data.reason)}. Its grace period ended, so we deleted it at ` +
          `${formatUtc(data.destroyedAt)}.`,
        'Its disk was wiped and its IP addresses were released. Its volumes and snapshots are still ' +
          'yours. You can use them with a new server in the same region:',
        serversLink(panel),
      ],
    };
  },

  server_lost(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: data.keepsDisk ? `The machine of ${server} was lost` : `${server} was lost`,
      paragraphs: [
        `The machine that your server ${server} ran on has failed and cannot be repaired. We gave it up at ` +
          `${formatUtc(data.lostAt)}. ` +
          `The data on the disk of the server is ${data.keepsDisk ? 'safe' : 'lost'}. We are sorry.`,
        ...(data.refundedCents === null ? rebuiltParagraphs(data) : refundedParagraphs(data.refundedCents)),
        serversLink(panel),
      ],
    };
  },

  backups_failed(data, panel) {
    const server = sanitizeLine(data.server);
    const last = data.lastReadyAt;
    return {
      subject: `Backups of ${server} fail`,
      paragraphs: [
        `Two backups in a row of your server ${server} failed or were missed, the last at ` +
          `${formatUtc(data.failedAt)}. ` +
          (last === null ? 'It has no other backup.' : `The latest backup is from ${formatUtc(last)}.`),
        'A backup is missed while the server is powered on, rebuilt, or moved during its whole hour, and ' +
          'if all backups that you keep are protected against deletion. We try again at the next time.',
        serversLink(panel),
      ],
    };
  },

  storage_lost(data) {
    const listed = (noun: string, names: readonly string[]) =>
      names.length === 0 ? [] : [`${noun}: ${names.map((name) => sanitizeLine(name)).join(', ')}`];
    return {
      subject: 'Volumes or snapshots were lost',
      paragraphs: [
        `A machine has failed and cannot be repaired. We gave it up at ${formatUtc(data.lostAt)}. The data ` +
          'of these volumes and snapshots was on it and is lost. We are sorry.',
        ...listed('Volumes', data.volumes),
        ...listed('Snapshots', data.snapshots),
        ...(data.more > 0 ? [`${data.more} more are not listed here.`] : []),
        'A lost volume can no longer be attached, and a lost snapshot has the status error. You can delete ' +
          'both.',
      ],
    };
  },
} satisfies Partial<MailTemplates>;

function refundedParagraphs(refundedCents: bigint): readonly string[] {
  return [
    'We have deleted the server.',
    ...(refundedCents > 0n
      ? [`We refunded ${formatUsd(refundedCents)} to your balance for its unused paid time.`]
      : []),
    'You can create a new server at any time:',
  ];
}

function rebuiltParagraphs(data: MailData['server_lost']): readonly string[] {
  const { keepsAddresses, keepsDisk, isSuspended } = data;
  if (isSuspended) return suspendedParagraphs(data);
  const addresses = keepsAddresses
    ? 'It keeps its IP addresses.'
    : 'It may get new IP addresses, without reverse names.';
  const same = `Its paid time stays the same. ${addresses}`;
  if (keepsDisk)
    return [
      `We are starting the server on another machine with its disk. ${same}`,
      'You can see its state here:',
    ];
  return [
    `We are installing the server again on another machine, from its image and with its SSH keys. ${same}`,
    'User data and root passwords are not kept. If the server has no SSH key, rebuild it with one when it ' +
      'runs:',
  ];
}

function suspendedParagraphs({ keepsDisk }: MailData['server_lost']): readonly string[] {
  const next = keepsDisk
    ? 'we start it on another machine with its disk'
    : 'we install it again on another machine, from its image and with its SSH keys';
  const state = 'The server stays suspended, and its grace period continues.';
  return [`${state} When it is paid, ${next}. You can delete it instead:`];
}

/** A customer may rely on the protection, so they must know that it ends here. */
function protectionParagraphs({ isProtected }: { readonly isProtected?: boolean }): readonly string[] {
  if (!isProtected) return [];
  return ['You protected this server against deletion. The protection does not prevent this deletion.'];
}

type Data = MailData['server_suspended'];

function describeReason(data: Data): string {
  if (data.reason === 'operator') return 'We suspended it manually.';
  if (data.reason === 'not_renewed') return 'Its paid time ended, and its automatic renewal is off.';
  if (data.reason === 'negative_balance') {
    return (
      `Your balance is ${formatUsd(data.balanceCents)}: the network removed a payment that we had ` +
      'credited, so we took its credit back.'
    );
  }
  return (
    `Its paid time ended, and your balance of ${formatUsd(data.balanceCents)} did not cover ` +
    `${formatNextMonths(data.months)} (${formatUsd(data.priceCents)}).`
  );
}

/** Returns the steps that the customer can take to resume a suspended server. */
function resumeInstructions(
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
  if (data.reason === 'negative_balance') {
    return [
      `To resume it, top up ${describeTopup(-data.balanceCents)}. It resumes automatically as soon as your ` +
        'balance is at least $0.00, and the time that you have paid for is not charged again:',
      topupLink(panel, -data.balanceCents),
    ];
  }
  const shortfallCents = data.priceCents - data.balanceCents;
  return [
    `To resume it, top up ${describeTopup(shortfallCents)}. It resumes automatically as soon as your ` +
      `balance covers ${formatUsd(data.priceCents)} for ${formatNextMonths(data.months)}:`,
    topupLink(panel, shortfallCents),
  ];
}

function causeOfSuspension(reason: Data['reason']): string {
  if (reason === 'operator') return 'by our team';
  if (reason === 'not_renewed') return 'because automatic renewal was off';
  if (reason === 'negative_balance') return 'because your balance was negative';
  return 'because your balance did not cover its renewal';
}
