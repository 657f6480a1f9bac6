/**
 * The driver calls, and the tables of commits, that each kill scenario must reach. `kill-effects.test.ts`
 * proves that together they name every call and every table that a kill could leave half done.
 */
import type { BlobAppender, BlobStore, BlobWriter, CopyStore, CopyUpload } from '../../src/ports/blobs.ts';
import type { ChainDriver } from '../../src/ports/chain.ts';
import type { ComputeDriver } from '../../src/ports/compute.ts';
import type { SnapshotCopies } from '../../src/ports/copies.ts';
import type { ReverseDns } from '../../src/ports/dns.ts';
import type { Mailer } from '../../src/ports/mail.ts';
import type { MachineMoves } from '../../src/ports/moves.ts';
import type { WebhookSender } from '../../src/ports/webhooks.ts';

export const EFFECTS = {
  'an order that is installed': [
    ...['compute.ensure', 'compute.observe', 'servers', 'machines', 'transfers', 'balances'],
    ...['ipv4_addresses', 'ipv6_prefixes', 'operations', 'actions', 'events', 'audit_events', 'idempotency'],
  ],
  'an order that no host can run': [
    ...['compute.ensure', 'compute.remove', 'hosts', 'machines', 'transfers', 'operations', 'tasks'],
  ],
  'an order from a snapshot with a volume': [
    ...['compute.ensure', 'compute.attach', 'servers', 'operations', 'volumes', 'volume_changes', 'tasks'],
    ...['transfers', 'balances', 'events', 'audit_events', 'idempotency'],
  ],
  'a reboot': ['compute.power', 'compute.observe', 'operations', 'events'],
  'a rebuild': ['compute.rebuild', 'compute.observe', 'operations', 'servers', 'events'],
  'a rescue and a restore': ['compute.rescue', 'compute.restore', 'operations', 'servers', 'events'],
  'a firewall': [...['compute.filter', 'firewall_groups', 'firewall_rules', 'firewall_attachments', 'tasks']],
  'the permission to send mail': ['compute.traffic', 'tasks'],
  'a sign-in and credentials': [
    ...['sessions', 'api_tokens', 'ssh_keys', 'webhooks', 'totp_secrets', 'console_tickets', 'audit_events'],
  ],
  'a deletion': ['compute.remove', 'operations', 'servers', 'tasks', 'events'],
  'a volume and a snapshot': [
    ...['compute.attach', 'compute.detach', 'compute.grow', 'compute.removeVolume', 'compute.snapshot'],
    ...['compute.removeSnapshot', 'volumes', 'volume_changes', 'snapshots', 'tasks'],
  ],
  'a top-up': ['chain.allocate', 'topups', 'idempotency'],
  'a payment that leaves its block': [
    ...['chain.poll', 'mailer.send', 'deposits', 'topups', 'transfers', 'coins'],
  ],
  'an account deletion': ['mailer.send', 'customers', 'tasks', 'mails'],
  'a renewal': [
    ...['webhooks.send', 'transfers', 'events', 'deliveries', 'event_counters', 'webhook_queues', 'servers'],
  ],
  'a suspension and its end': [
    ...['compute.power', 'compute.remove', 'mailer.send', 'webhooks.send', 'mails', 'operations', 'events'],
  ],
  'a payment for a suspended server': [
    ...['compute.power', 'mailer.send', 'webhooks.send', 'transfers', 'operations', 'deposits', 'mails'],
  ],
  'a receiver that is gone': ['webhooks.send', 'mailer.send', 'webhooks', 'mails', 'deliveries'],
  'a backup': [
    ...['compute.snapshot', 'backup_policies', 'snapshots', 'actions', 'tasks', 'events', 'audit_events'],
  ],
  'an alert that fires': [
    ...['mailer.send', 'webhooks.send', 'alerts', 'alert_servers', 'alert_firings', 'events', 'mails'],
  ],
  'mails over SMTP': ['mailer.send', 'mails'],
  'the deletion of an account with a server': [
    ...['compute.remove', 'mailer.send', 'customers', 'tasks', 'operations', 'mails'],
  ],
  'a move to another host': [
    ...['compute.moves.receive', 'compute.moves.send', 'compute.moves.takeOver', 'compute.moves.forget'],
    ...['moves', 'hosts', 'operations', 'servers', 'volumes', 'tasks', 'audit_events'],
  ],
  'a move that fails': [
    ...['compute.moves.receive', 'compute.moves.send', 'compute.moves.keep', 'compute.moves.forget'],
    ...['moves', 'hosts', 'operations', 'tasks', 'audit_events'],
  ],
  'a host that is emptied': [
    ...['compute.moves.receiveDisk', 'compute.moves.send', 'compute.moves.takeOver', 'compute.moves.forget'],
    ...['moves', 'hosts', 'volumes', 'snapshots', 'tasks', 'audit_events'],
  ],
  'a resize': [
    ...['compute.power', 'compute.resize', 'compute.observe', 'servers', 'hosts', 'transfers', 'balances'],
    ...['operations', 'events', 'audit_events', 'idempotency'],
  ],
  'a resize that fails': [
    ...['compute.resize', 'servers', 'hosts', 'transfers', 'operations', 'events', 'audit_events'],
  ],
  'a resize to another host': [
    ...['compute.resize', 'compute.moves.send', 'compute.moves.takeOver', 'moves', 'servers', 'operations'],
  ],
  'an ISO image that is inserted, booted, and ejected': [
    ...['compute.setIso', 'servers', 'operations', 'actions', 'events', 'audit_events', 'idempotency'],
  ],
  'an ISO image that cannot be inserted': [
    ...['compute.setIso', 'servers', 'operations', 'actions', 'events', 'audit_events'],
  ],
  'a reverse name': ['dns.set', 'published_rdns', 'servers', 'tasks'],
  'the removal of a server with a reverse name': [
    ...['dns.set', 'compute.remove', 'published_rdns', 'servers', 'tasks'],
  ],
  'an image upload': [
    ...['blobs.createWriter', 'blobs.createWriter.write', 'blobs.createWriter.finish', 'images'],
    'image_uploads',
  ],
  'an upload in parts': [
    ...['blobs.openAppender', 'blobs.openAppender.write', 'blobs.openAppender.finish', 'blobs.publish'],
    ...['image_uploads', 'images'],
  ],
  'the deletion of an image': ['blobs.remove', 'images', 'tasks'],
  'a snapshot that is copied to the store, and deleted': [
    ...['compute.copies.prepareCopy', 'compute.copies.sendCopy', 'compute.copies.forgetCopy'],
    ...['blobs.copies.open', 'blobs.copies.open.complete', 'blobs.copies.remove', 'snapshot_copies'],
  ],
  'a snapshot that is fetched from the store': ['compute.copies.fetchCopy', 'snapshots', 'operations'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Calls<Name extends string, Port> = {
  // biome-ignore lint/suspicious/noExplicitAny: any function is a call.
  [Key in keyof Port & string]: Port[Key] extends (...args: any[]) => unknown ? `${Name}.${Key}` : never;
}[keyof Port & string];

export type DriverCall =
  | Calls<'compute', ComputeDriver>
  | Calls<'compute.moves', MachineMoves>
  | Calls<'compute.copies', SnapshotCopies>
  | Calls<'chain', ChainDriver>
  | Calls<'blobs', BlobStore>
  | Calls<'blobs.createWriter', BlobWriter>
  | Calls<'blobs.openAppender', BlobAppender>
  | Calls<'blobs.copies', CopyStore>
  | Calls<'blobs.copies.open', CopyUpload>
  | Calls<'dns', ReverseDns>
  | Calls<'mailer', Mailer>
  | Calls<'webhooks', WebhookSender>;

/** Every call of a driver: killed at, or the reason why a kill there leaves nothing half done. */
export const CALLS: Readonly<Record<DriverCall, 'killed' | `harmless: ${string}`>> = {
  'compute.ensure': 'killed',
  'compute.remove': 'killed',
  'compute.power': 'killed',
  'compute.observe': 'killed',
  'compute.rebuild': 'killed',
  'compute.restore': 'killed',
  'compute.rescue': 'killed',
  'compute.resize': 'killed',
  'compute.setIso': 'killed',
  'compute.attach': 'killed',
  'compute.detach': 'killed',
  'compute.grow': 'killed',
  'compute.removeVolume': 'killed',
  'compute.snapshot': 'killed',
  'compute.removeSnapshot': 'killed',
  'compute.filter': 'killed',
  'compute.traffic': 'killed',
  'compute.moves.receive': 'killed',
  'compute.moves.receiveDisk': 'killed',
  'compute.moves.send': 'killed',
  'compute.moves.takeOver': 'killed',
  'compute.moves.keep': 'killed',
  'compute.moves.forget': 'killed',
  'compute.copies.prepareCopy': 'killed',
  'compute.copies.sendCopy': 'killed',
  'compute.copies.forgetCopy': 'killed',
  'compute.copies.fetchCopy': 'killed',
  'compute.console': 'harmless: the connection ends with the process',
  'compute.sample': 'harmless: reads',
  'compute.sampleMinutes': 'harmless: reads',
  'compute.samplePackets': 'harmless: reads',
  'compute.list': 'harmless: reads',
  'compute.superviseMachines': 'harmless: compares with the host again on the next run',
  'compute.examine': 'harmless: the operator runs it again',
  'chain.allocate': 'killed',
  'chain.poll': 'killed',
  'chain.recheck': 'harmless: reads',
  'chain.health': 'harmless: reads',
  'chain.examine': 'harmless: reads',
  'chain.checkSafety': 'harmless: reads',
  'blobs.createWriter': 'killed',
  'blobs.createWriter.write': 'killed',
  'blobs.createWriter.finish': 'killed',
  'blobs.createWriter.abort': 'harmless: deletes what a kill would leave for the cleanup job',
  'blobs.openAppender': 'killed',
  'blobs.openAppender.write': 'killed',
  'blobs.openAppender.finish': 'killed',
  'blobs.openAppender.abandon': 'harmless: writes nothing',
  'blobs.publish': 'killed',
  'blobs.path': 'harmless: reads',
  'blobs.read': 'harmless: reads',
  'blobs.check': 'harmless: the operator runs it again',
  'blobs.remove': 'killed',
  'blobs.copies.has': 'harmless: reads',
  'blobs.copies.open': 'killed',
  'blobs.copies.signRead': 'harmless: signs',
  'blobs.copies.remove': 'killed',
  'blobs.copies.open.signPart': 'harmless: signs',
  'blobs.copies.open.complete': 'killed',
  'dns.set': 'killed',
  'dns.zones': 'harmless: reads',
  'dns.createZone': 'harmless: the operator runs it again',
  'mailer.send': 'killed',
  'mailer.close': 'harmless: the process is ending',
  'webhooks.send': 'killed',
  'webhooks.close': 'harmless: the process is ending',
};
