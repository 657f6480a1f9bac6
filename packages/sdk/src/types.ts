/** Short names for the types of the API. All of them come from the OpenAPI document. */
import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

export type Account = Schemas['Account'];
export type Action = Schemas['Action'];
/** `action` of a resource. */
export type ActionSummary = NonNullable<Server['action']>;
export type Alert = Schemas['Alert'];
export type ApiToken = Schemas['ApiToken'];
export type AuditEvent = Schemas['AuditEvent'];
export type Balance = Schemas['Balance'];
export type Console = Schemas['Console'];
export type CreatedApiToken = Schemas['CreatedApiToken'];
export type CreatedWebhook = Schemas['CreatedWebhook'];
export type RotatedWebhook = Schemas['RotatedWebhook'];
export type DeletedServer = Schemas['DeletedServer'];
export type FirewallGroup = Schemas['FirewallGroup'];
export type FirewallRule = Schemas['FirewallRule'];
export type Image = Schemas['Image'];
export type LedgerEntry = Schemas['LedgerEntry'];
export type Limit = Schemas['Limit'];
export type ListedSshKey = Schemas['ListedSshKey'];
export type Metrics = Schemas['Metrics'];
export type Plan = Schemas['Plan'];
export type Quote = Schemas['Quote'];
export type Region = Schemas['Region'];
export type RescuedServer = Schemas['RescuedServer'];
export type Server = Schemas['Server'];
export type Snapshot = Schemas['Snapshot'];
export type BackupPolicy = Schemas['BackupPolicy'];
export type SshKey = Schemas['SshKey'];
export type Topup = Schemas['Topup'];
export type Volume = Schemas['Volume'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
/**
 * The content of webhooks and the event stream. `data` contains the object as it was at the time, by its
 * name.
 */
export type Event = Schemas['Event'];
export type EventType = Event['type'];

export type OperationId = keyof operations;

/** The JSON body of an operation. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Json } };
}
  ? Json
  : never;

type QueryOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/**
 * The query of a list: `{ filter: { status: 'running' }, label: ['env:prod'], sort: 'name', page_size: 50 }`.
 */
export type ListQuery<Id extends OperationId> = Pick<
  QueryOf<Id>,
  Extract<keyof QueryOf<Id>, 'page_size' | 'cursor' | 'sort' | 'label'>
> & {
  readonly filter?: {
    [Key in keyof QueryOf<Id> as Key extends `filter[${infer Name}]` ? Name : never]?: QueryOf<Id>[Key];
  };
};

export type CreateServer = Body<'servers.create'>;
export type UpdateServer = Body<'servers.update'>;
export type RebuildServer = Body<'servers.rebuild'>;
export type ResizeServer = Body<'servers.resize'>;
export type InsertIso = Body<'servers.insert_iso'>;
export type StartServer = Body<'servers.start'>;
export type SetRdns = Body<'servers.set_rdns'>;
export type CreateSnapshot = Body<'snapshots.create'>;
export type SetBackupPolicy = Body<'backup_policies.replace'>;
export type UpdateSnapshot = Body<'snapshots.update'>;
export type CreateSshKey = Body<'ssh_keys.create'>;
export type CreateApiToken = Body<'tokens.create'>;
export type UpdateApiToken = Body<'tokens.update'>;
export type CreateTopup = Body<'topups.create'>;
export type CreateVolume = Body<'volumes.create'>;
export type UpdateVolume = Body<'volumes.update'>;
export type CreateFirewallGroup = Body<'firewall_groups.create'>;
export type UpdateFirewallGroup = Body<'firewall_groups.update'>;
export type CreateFirewallRule = Body<'firewall_rules.create'>;
export type CreateWebhook = Body<'webhooks.create'>;
export type UpdateWebhook = Body<'webhooks.update'>;
export type EndRotation = NonNullable<Body<'webhooks.end_rotation'>>;
export type ListedTicket = Schemas['ListedTicket'];
export type Ticket = Schemas['Ticket'];
export type CreateTicket = Body<'tickets.create'>;
export type ReplyToTicket = Body<'tickets.reply'>;
export type CreateAlert = Body<'alerts.create'>;
export type UpdateAlert = Body<'alerts.update'>;

/** The operation to quote. `params` is the body of its own request; of an order, only `plan` is required. */
export type CreateQuote =
  | {
      readonly operation: 'server.create';
      readonly params: Partial<CreateServer> & Pick<CreateServer, 'plan'>;
    }
  | { readonly operation: 'server.start'; readonly resource: string; readonly params?: StartServer }
  | { readonly operation: 'server.resize'; readonly resource: string; readonly params: ResizeServer }
  | { readonly operation: 'server.delete'; readonly resource: string };

type ImageParts = operations['images.create']['requestBody']['content']['multipart/form-data'];
/** `file` is an ISO 9660 image: `await openAsBlob(path)` in Node, or a File from an input in a browser. */
export type CreateImage = Omit<ImageParts, 'file'> & { readonly file: Blob };
