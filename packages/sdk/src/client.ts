import { Account, Actions, AuditEvents, Limits, SshKeys, Tokens } from './resources/account.ts';
import { Alerts } from './resources/alerts.ts';
import { Balances, Ledger, Quotes, Topups } from './resources/billing.ts';
import { Images, Plans, Regions } from './resources/catalog.ts';
import { Events } from './resources/events.ts';
import { FirewallGroups, FirewallRules } from './resources/firewalls.ts';
import { Servers } from './resources/servers.ts';
import { BackupPolicies, Snapshots, Volumes } from './resources/storage.ts';
import { Tickets } from './resources/tickets.ts';
import { Deliveries, Webhooks } from './resources/webhooks.ts';
import { type ClientOptions, Transport } from './transport.ts';
import type { Action, ActionSummary, Server, Snapshot, Topup } from './types.ts';
import { type Waitable, type WaitOptions, waitFor } from './wait-for.ts';
import { type ActionWaitOptions, waitForAction } from './wait-for-action.ts';

/**
 * A client of the Skerry API. Every operation is a method: `servers.create` is `skerry.servers.create(…)`,
 * `ssh_keys.list` is `skerry.sshKeys.list()`. Arguments are the IDs in the path, then the body or the query,
 * then the options of the call.
 */
export class Skerry {
  readonly actions: Actions;
  readonly auditEvents: AuditEvents;
  readonly backupPolicies: BackupPolicies;
  readonly balance: Balances;
  readonly deliveries: Deliveries;
  readonly events: Events;
  readonly firewallGroups: FirewallGroups;
  readonly firewallRules: FirewallRules;
  readonly images: Images;
  readonly ledger: Ledger;
  readonly plans: Plans;
  readonly quotes: Quotes;
  readonly regions: Regions;
  readonly servers: Servers;
  readonly snapshots: Snapshots;
  readonly sshKeys: SshKeys;
  readonly account: Account;
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly topups: Topups;
  readonly volumes: Volumes;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  readonly tickets: Tickets;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.actions = new Actions(transport);
    this.auditEvents = new AuditEvents(transport);
    this.backupPolicies = new BackupPolicies(transport);
    this.balance = new Balances(transport);
    this.deliveries = new Deliveries(transport);
    this.events = new Events(transport);
    this.firewallGroups = new FirewallGroups(transport);
    this.firewallRules = new FirewallRules(transport);
    this.images = new Images(transport);
    this.ledger = new Ledger(transport);
    this.plans = new Plans(transport);
    this.quotes = new Quotes(transport);
    this.regions = new Regions(transport);
    this.servers = new Servers(transport);
    this.snapshots = new Snapshots(transport);
    this.sshKeys = new SshKeys(transport);
    this.account = new Account(transport);
    this.limits = new Limits(transport);
    this.tokens = new Tokens(transport);
    this.topups = new Topups(transport);
    this.volumes = new Volumes(transport);
    this.webhooks = new Webhooks(transport);
    this.alerts = new Alerts(transport);
    this.tickets = new Tickets(transport);
  }

  /**
   * Waits for the end of an action by the event stream: `await skerry.waitForAction(server.action)`. Without
   * a stream, it polls. Returns the action if it succeeded. Throws an ActionFailedError with the cause if it
   * failed, and a WaitTimeoutError if it takes too long.
   */
  async waitForAction(action: Action | ActionSummary | string, options?: ActionWaitOptions): Promise<Action> {
    const id = typeof action === 'string' ? action : action.id;
    const get = (shown: string, signal: AbortSignal) => this.actions.get(shown, { signal });
    return await waitForAction(id, { get, stream: (wanted) => this.events.stream(wanted) }, options);
  }

  /**
   * Waits until the resource has the status and returns its latest state: `await skerry.waitFor(server,
   * 'running')`. Throws a WaitError if it can no longer reach that status, and a WaitTimeoutError if it takes
   * too long.
   */
  async waitFor(thing: Server, status: Server['status'], options?: WaitOptions<Server>): Promise<Server>;
  async waitFor(
    thing: Snapshot,
    status: Snapshot['status'],
    options?: WaitOptions<Snapshot>,
  ): Promise<Snapshot>;
  async waitFor(thing: Topup, status: Topup['status'], options?: WaitOptions<Topup>): Promise<Topup>;
  async waitFor(
    thing: Waitable,
    status: Waitable['status'],
    options?: WaitOptions<never>,
  ): Promise<Waitable> {
    const { signal } = options ?? {};
    const call = signal ? { signal } : {};
    const fetchers: Record<Waitable['object'], (id: string) => Promise<Waitable>> = {
      server: (id) => this.servers.get(id, call),
      snapshot: (id) => this.snapshots.get(id, call),
      topup: (id) => this.topups.get(id, call),
    };
    return await waitFor(thing, status, fetchers[thing.object], options as WaitOptions<Waitable>);
  }
}
