/** Mail about floods of packets: addresses whose packets we drop, and when they pass again. */
import type { BlackholeTarget } from '../../../spec/staff/floods.ts';
import { formatUtc, type MailTemplates, sanitizeLine, serversLink } from './format.ts';

const ADDRESSES: Readonly<Record<BlackholeTarget, string>> = {
  ipv4: 'its IPv4 address',
  ipv6: 'its IPv6 network',
  both: 'its IPv4 address and its IPv6 network',
};

const REASONS = {
  in: 'A flood of packets to it reached a rate that endangers other servers.',
  out: 'It sent a flood of packets at a rate that endangers other servers.',
  staff: 'Our team decided this.',
} as const;

export const FLOOD_MAILS = {
  server_blackholed(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: `We drop the traffic of ${server}`,
      paragraphs: [
        `Since ${formatUtc(data.blackholedAt)}, we drop all packets to and from your server ${server} at ` +
          `${ADDRESSES[data.target]}. ${REASONS[data.flood ?? 'staff']}`,
        `They pass again at ${formatUtc(data.until)}, or earlier if we lift this. The server keeps ` +
          'running, and you can open its console in the panel:',
        serversLink(panel),
        ...(data.flood === 'out'
          ? ['If you did not send these packets on purpose, someone else may control the server. Check it.']
          : ['If the flood comes back at once, we may drop the packets again for longer.']),
      ],
    };
  },

  blackhole_lifted(data, panel) {
    const server = sanitizeLine(data.server);
    return {
      subject: `The traffic of ${server} passes again`,
      paragraphs: [
        `Since ${formatUtc(data.liftedAt)}, packets to and from your server ${server} at ` +
          `${ADDRESSES[data.target]} pass again.`,
        serversLink(panel),
      ],
    };
  },
} satisfies Partial<MailTemplates>;
