/** Listeners of this process besides those for browsers: for Tor, and for the operator's mail server. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { readRecipient } from '../domain/customers/tickets/mail/address.ts';
import { receiveTicketMail } from '../domain/customers/tickets/mail/receive.ts';
import { type LmtpListener, listenForLmtp } from '../drivers/mail/lmtp.ts';
import { MAIL_PARSER } from '../drivers/mail/parser.ts';
import { listenForOnion, type OnionListener } from '../http/onion-listener.ts';
import { logFault } from '../kernel/faults/fault-log.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { LIMITS } from '../spec/limits.ts';
import type { OpenedService } from './service.ts';
import { toListenError } from './startup-messages.ts';

/** Opens the port of the onion service, if it is set. */
export async function listenForTor(
  config: Config,
  http: FastifyInstance,
  {
    opened,
    sharedPort,
    backlog,
  }: { readonly opened: OpenedService; readonly sharedPort: boolean; readonly backlog: number },
): Promise<OnionListener | null> {
  const { SKERRY_ONION_HOST: host, SKERRY_ONION_PORT: port } = config;
  if (port === null) return null;
  try {
    return await listenForOnion(http.server, opened.log, { host, port, backlog, reusePort: sharedPort });
  } catch (error) {
    throw nameListener(config, 'ONION', { host, port }, error);
  }
}

/** Opens the port for mail to tickets, if it is set. */
export async function listenForMail(
  config: Config,
  { service, log }: OpenedService,
  sharedPort: boolean,
): Promise<LmtpListener | null> {
  const { SKERRY_LMTP_HOST: host, SKERRY_LMTP_PORT: port, SKERRY_TICKET_ADDRESS: address } = config;
  if (port === null || address === null) return null;
  try {
    return await listenForLmtp({
      ...{ host, port, sharedPort, name: address.slice(address.lastIndexOf('@') + 1) },
      maxBytes: LIMITS.ticketMailMaxBytes,
      maxConnections: LIMITS.ticketMailConnectionsMax,
      maxRecipients: LIMITS.ticketMailRecipientsMax,
      isRecipient: (recipient) => readRecipient(service, recipient) !== undefined,
      receive: (delivery) => receiveTicketMail(service, MAIL_PARSER, delivery),
      // A connection that broke: its mail server tries again. The error has an address.
      onError: (error: NodeJS.ErrnoException) => {
        const err = new Error(error.code ?? error.name);
        logFault(log, 'warn', 'a connection of the mail server failed', { err });
      },
    });
  } catch (error) {
    throw nameListener(config, 'LMTP', { host, port }, error);
  }
}

/** The error of a listener names its own settings. */
function nameListener(
  config: Config,
  name: 'ONION' | 'LMTP',
  { host, port }: { readonly host: string; readonly port: number },
  error: unknown,
): unknown {
  const known = toListenError({ ...config, SKERRY_HOST: host, SKERRY_PORT: port }, error);
  if (!(known instanceof OperatorError)) return known;
  return new OperatorError(known.message.replace(/^SKERRY_/, `SKERRY_${name}_`));
}
