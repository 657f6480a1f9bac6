/** Mail about money: balance, top-ups, and prices. */
import type { MailData } from '../../../spec/mails/data.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { REVERSAL_FATES } from '../../../spec/states.ts';
import {
  describeTopup,
  formatDay,
  formatMonths,
  formatUsd,
  formatUtc,
  type MailTemplates,
  panelLink,
  sanitizeLine,
  serversLink,
  topupLink,
} from './format.ts';

export const BILLING_MAILS = {
  low_balance(data, panel) {
    const server = sanitizeLine(data.server);
    const shortfallCents = data.neededCents - data.balanceCents;
    return {
      subject: `Balance too low to renew ${server}`,
      paragraphs: [
        `Your server ${server} is paid until ${formatUtc(data.paidUntil)}. It then renews for ` +
          `${formatMonths(data.months)} at ${formatUsd(data.priceCents)}.`,
        `Your balance is ${formatUsd(data.balanceCents)}. Renewals due by then cost ` +
          `${formatUsd(data.neededCents)} in total, so you're short by ${formatUsd(shortfallCents)}.`,
        `To keep the server running, top up ${describeTopup(shortfallCents)} before then. Payments need ` +
          'network confirmations, so allow a few hours:',
        topupLink(panel, shortfallCents),
        'Without a payment, we suspend the server at that time: we power it off and keep its disk and IP ' +
          'addresses for a limited time.',
      ],
    };
  },

  topup_credited(data, panel) {
    const bonus = data.bonusCents > 0n ? ` plus a bonus of ${formatUsd(data.bonusCents)}` : '';
    return {
      subject: `Top-up credited: ${formatUsd(data.creditedCents)}`,
      paragraphs: [
        `Your ${sanitizeLine(data.coin)} payment is confirmed. We credited ` +
          `${formatUsd(data.creditedCents)}${bonus} at ${formatUtc(data.creditedAt)}. Your balance after ` +
          `this top-up is ${formatUsd(data.balanceCents)}.`,
        `Top-up ID: ${sanitizeLine(data.topup)}`,
        panelLink(panel, PANEL_PATHS.billing),
      ],
    };
  },

  topup_reversed(data, panel) {
    const amount = formatUsd(data.reversedCents);
    return {
      subject: `Top-up reversed: ${amount}`,
      paragraphs: [
        `The network removed the block of your ${sanitizeLine(data.coin)} payment, so we took back ` +
          `${amount} of its credit, bonus included, at ${formatUtc(data.reversedAt)}. Your balance is now ` +
          `${formatUsd(data.balanceCents)}.`,
        REVERSAL_FATES[data.fate],
        ...(data.suspendAt !== null
          ? [
              "Your balance is negative, so you can't buy anything. If it is still negative at " +
                `${formatUtc(data.suspendAt)}, we suspend your servers: we power them off and keep their ` +
                `disks and IP addresses. To prevent that, top up ${describeTopup(-data.balanceCents)}:`,
              topupLink(panel, -data.balanceCents),
            ]
          : []),
        `Top-up ID: ${sanitizeLine(data.topup)}`,
        panelLink(panel, PANEL_PATHS.billing),
      ],
    };
  },

  price_change(data, panel) {
    const plan = sanitizeLine(data.plan);
    return {
      subject: `New price for plan ${plan} from ${formatDay(data.from)}`,
      paragraphs: [
        `From ${formatUtc(data.from)}, plan ${plan} costs ${formatUsd(data.newMonthCents)} per month. ` +
          `Until then, it costs ${formatUsd(data.oldMonthCents)}. Time that you have already paid for is ` +
          'not affected: you pay the new price for each server when it next renews after that date.',
        data.servers.map(newPriceLine).join('\n'),
        "If you agree, you don't need to do anything. Otherwise, turn off automatic renewal for a server " +
          'or delete it:',
        serversLink(panel),
      ],
    };
  },
} satisfies Partial<MailTemplates>;

function newPriceLine(row: MailData['price_change']['servers'][number]): string {
  return (
    `* ${sanitizeLine(row.server)}: ${formatUsd(row.newCycleCents)} for ${formatMonths(row.months)} ` +
    `instead of ${formatUsd(row.oldCycleCents)} from ${formatUtc(row.renewsAt)}`
  );
}
