/** A model of an account that runs actions: it has the effects of the service without the service. */
import type { UpdateServer } from '@skerry/sdk';
import type {
  Actual,
  ActualAlert,
  ActualServer,
  ActualVolume,
} from '../../../../packages/cli/src/apply/actual.ts';
import type { BackupSettings, WantedServer } from '../../../../packages/cli/src/apply/desired.ts';
import { mergeBackups } from '../../../../packages/cli/src/apply/plan/backups.ts';
import {
  type Action,
  type Kind,
  PHASES,
  type Plan,
  type PlanItem,
} from '../../../../packages/cli/src/apply/plan/plan.ts';
import { createAlert, createServer } from './created.ts';

export interface Step {
  readonly item: PlanItem;
  readonly act: Action;
}

/** Returns all actions of a plan in the order in which they run. */
export function stepsOf({ items }: Plan): Step[] {
  return PHASES.flatMap((phase) =>
    items.flatMap((item) => {
      const actions = item.actions.filter((act) => phase.includes(act.do));
      return actions.map((act) => ({ item, act }));
    }),
  );
}

const NO_BACKUPS: BackupSettings = { enabled: false, every: 'day', weekday: null, hour_utc: 0, keep: 7 };

function isIdle(server: ActualServer | undefined): boolean {
  return server?.status === 'running' || server?.status === 'stopped';
}

export class Model {
  #actual: Actual;
  #createdCount = 0;

  constructor(actual: Actual) {
    this.#actual = actual;
  }

  get actual(): Actual {
    return this.#actual;
  }

  /** Runs the first `count` steps, like a run that is interrupted afterwards. */
  run(plan: Plan, count = Number.POSITIVE_INFINITY): void {
    const ids = {
      ssh_key: new Map(plan.ids.ssh_key),
      firewall_group: new Map(plan.ids.firewall_group),
      volume: new Map(plan.ids.volume),
      server: new Map(plan.ids.server),
      alert: new Map(plan.ids.alert),
    };
    const id = (kind: keyof typeof ids, name: string) => {
      const found = ids[kind].get(name);
      if (found === undefined) throw new Error(`${kind} ${name} is used before it exists`);
      return found;
    };
    const steps = stepsOf(plan);
    const leaving = new Set(steps.flatMap(({ act }) => (act.do === 'destroy_server' ? [act.id] : [])));
    for (const { act } of steps.slice(0, count)) {
      if (act.do === 'detach_volume') this.#requireWritten(id('volume', act.volume), leaving);
      this.#execute(act, ids, id);
    }
  }

  #execute(
    act: Action,
    ids: Readonly<Record<Kind, Map<string, string>>>,
    id: (kind: keyof typeof ids, name: string) => string,
  ): this {
    const { keys, groups, volumes, servers, alerts } = this.#actual;
    const keysOf = ({ sshKeys }: WantedServer) => sshKeys.map((key) => id('ssh_key', key));
    switch (act.do) {
      case 'create_key': {
        const made = { id: this.#newId('k'), name: act.key.name, fingerprint: act.key.fingerprint };
        ids.ssh_key.set(made.name, made.id);
        return this.#set({ keys: [...keys, made] });
      }
      case 'create_group': {
        const { name, defaultAction, rules = [] } = act.group;
        const made = { id: this.#newId('fwg'), name, default_action: defaultAction, applied_to: [] };
        ids.firewall_group.set(name, made.id);
        return this.#set({ groups: [...groups, { ...made, rules: rules.map((rule) => this.#rule(rule)) }] });
      }
      case 'update_group':
        return this.#group(id('firewall_group', act.group), { default_action: act.defaultAction });
      case 'replace_rules':
        return this.#group(id('firewall_group', act.group), {
          rules: act.rules.map((rule) => this.#rule(rule)),
        });
      case 'apply_group':
        return this.#group(id('firewall_group', act.group), {
          applied_to: [...new Set([...act.keptIds, ...act.servers.map((name) => id('server', name))])],
        });
      case 'delete_group':
        return this.#set({ groups: groups.filter((one) => one.id !== act.id) });
      case 'create_volume': {
        const { name, sizeGb, region, encrypted = false, filesystem = null } = act.volume;
        const protection = { delete: act.volume.protection?.delete ?? false };
        const facts = { name, size_gb: sizeGb, region, encrypted, filesystem, protection };
        const made = { id: this.#newId('vol'), ...facts };
        ids.volume.set(name, made.id);
        return this.#set({ volumes: [...volumes, { ...made, attached_to: null }] });
      }
      case 'update_volume':
        return this.#volume(id('volume', act.volume), act.patch as Partial<ActualVolume>);
      case 'detach_volume':
        this.#require(this.#attachedTo(id('volume', act.volume)) !== null, 'the volume is already detached');
        return this.#volume(id('volume', act.volume), { attached_to: null });
      case 'attach_volume': {
        const server = servers.find((one) => one.id === id('server', act.server));
        const volume = volumes.find((one) => one.id === id('volume', act.volume));
        this.#require(volume?.attached_to === null, 'the volume is already attached');
        this.#require(isIdle(server), 'the volume is attached to a server that is not ready');
        this.#require(server?.region === volume?.region, 'the volume is attached in another region');
        return this.#volume(id('volume', act.volume), { attached_to: server?.id ?? null });
      }
      case 'delete_volume':
        return this.#set({ volumes: volumes.filter((one) => one.id !== act.id) });
      case 'create_server': {
        const made = createServer(act, this.#newId('srv'), keysOf(act.server));
        ids.server.set(made.name, made.id);
        const attached = act.volumes.map((name) => id('volume', name));
        for (const one of attached)
          this.#require(this.#attachedTo(one) === null, 'an order takes an attached volume');
        this.#set({ servers: [...servers, made] });
        const ordered = act.server.backups;
        this.#setBackups(made.id, ordered ? mergeBackups(ordered, NO_BACKUPS) : NO_BACKUPS);
        for (const one of attached) this.#volume(one, { attached_to: made.id });
        return this;
      }
      case 'rebuild_server':
        this.#require(isIdle(servers.find((one) => one.id === act.id)), 'a busy server is rebuilt');
        return this.#change(act.id, {
          image: act.image,
          ssh_keys: keysOf(act.server),
          labels: act.labels,
          status: 'installing',
        });
      case 'resize_server':
        return this.#change(act.id, { plan: act.plan });
      case 'set_backups':
        return this.#setBackups(act.id, act.policy);
      case 'mark_replaced':
        return this.#change(act.id, { labels: act.labels });
      case 'update_server':
        return this.#change(act.id, this.#merged(act.id, act.patch));
      case 'settle_server':
        return this.#change(id('server', act.server), { status: 'running' });
      case 'wait_server':
        return this.#change(id('server', act.server), {
          status: 'running',
          ipv4: {
            address: '192.0.2.1',
            gateway: '192.0.2.254',
            rdns: null,
            ...this.#rdns(act.server, id, 'ipv4'),
          },
          ipv6: {
            address: '2001:db8::1',
            prefix: '2001:db8::/64',
            rdns: null,
            rdns_records: {},
            ...this.#rdns(act.server, id, 'ipv6'),
          },
        });
      case 'set_rdns': {
        const server = servers.find((one) => one.id === id('server', act.server));
        if (!server?.ipv4 || !server.ipv6) throw new Error('the server has no addresses yet');
        const { ipv4 = server.ipv4.rdns, ipv6 = server.ipv6.rdns } = act.rdns;
        return this.#change(server.id, {
          ipv4: { ...server.ipv4, rdns: ipv4 },
          ipv6: { ...server.ipv6, rdns: ipv6 },
        });
      }
      case 'create_alert': {
        const listed = act.alert.servers?.map((one) => id('server', one)) ?? null;
        const made = createAlert(act.alert, this.#newId('alr'), listed);
        ids.alert.set(made.name, made.id);
        return this.#set({ alerts: [...alerts, made] });
      }
      case 'update_alert': {
        const { patch } = act;
        const listed = act.servers?.map((one) => id('server', one));
        const watched = listed ? { servers: listed, label_selector: null } : {};
        const labeled = patch.label_selector === undefined ? {} : { servers: null };
        const unvalued = patch.metric === 'unreachable' ? { value: null, compare: null } : {};
        const changed = { ...patch, ...watched, ...labeled, ...unvalued } as Partial<ActualAlert>;
        const wanted = id('alert', act.alert);
        return this.#set({ alerts: alerts.map((one) => (one.id === wanted ? { ...one, ...changed } : one)) });
      }
      case 'delete_alert':
        return this.#set({ alerts: alerts.filter((one) => one.id !== act.id) });
      case 'stop_server':
        return this.#change(act.id, { status: 'stopped' });
      case 'destroy_server':
        for (const { id: held } of volumes.filter((one) => one.attached_to === act.id)) {
          this.#requireWritten(held, new Set([act.id]));
        }
        return this.#set({
          servers: servers.filter((one) => one.id !== act.id),
          volumes: volumes.map((one) => (one.attached_to === act.id ? { ...one, attached_to: null } : one)),
          alerts: alerts.map((one) => {
            return { ...one, servers: one.servers?.filter((held) => held !== act.id) ?? null };
          }),
          groups: groups.map((one) => ({
            ...one,
            applied_to: one.applied_to.filter((held) => held !== act.id),
          })),
        });
    }
  }

  /** Returns the current addresses: a server that was already running keeps its reverse DNS. */
  #rdns(name: string, id: (kind: 'server', name: string) => string, family: 'ipv4' | 'ipv6'): object {
    const server = this.#actual.servers.find((one) => one.id === id('server', name));
    return server?.[family] ?? {};
  }

  #rule<T extends object>(rule: T): T & { id: string } {
    return { ...rule, id: this.#newId('fwr') };
  }

  #attachedTo(volume: string): string | null {
    return this.#actual.volumes.find((one) => one.id === volume)?.attached_to ?? null;
  }

  /** Fails if a volume leaves a running server that will be deleted: its last writes could be lost. */
  #requireWritten(volume: string, leaving: ReadonlySet<string>): void {
    const holder = this.#actual.servers.find(({ id }) => id === this.#attachedTo(volume));
    const loses = holder?.status === 'running' && leaving.has(holder.id);
    this.#require(!loses, 'a volume is detached from a running server that will be deleted');
  }

  #group(id: string, patch: Partial<Actual['groups'][number]>): this {
    return this.#set({
      groups: this.#actual.groups.map((one) => (one.id === id ? { ...one, ...patch } : one)),
    });
  }

  #volume(id: string, patch: Partial<Actual['volumes'][number]>): this {
    return this.#set({
      volumes: this.#actual.volumes.map((one) => (one.id === id ? { ...one, ...patch } : one)),
    });
  }

  #change(id: string, patch: Partial<ActualServer>): this {
    return this.#set({
      servers: this.#actual.servers.map((one) => (one.id === id ? { ...one, ...patch } : one)),
    });
  }

  #setBackups(id: string, policy: BackupSettings): this {
    const backups = new Map(this.#actual.backups);
    return this.#set({ backups: backups.set(id, { ...policy, price_usd_cycle: 0, price_usd_now: 0 }) });
  }

  #set(change: Partial<Actual>): this {
    this.#actual = { ...this.#actual, ...change };
    return this;
  }

  #require(holds: boolean, message: string): void {
    if (!holds) throw new Error(message);
  }

  /** A patch of the protection names only some of its members. */
  #merged(id: string, patch: UpdateServer): Partial<ActualServer> {
    const { protection = { delete: false, rebuild: false } } =
      this.#actual.servers.find((one) => one.id === id) ?? {};
    return { ...patch, protection: { ...protection, ...patch.protection } } as Partial<ActualServer>;
  }

  #newId(prefix: string): string {
    this.#createdCount += 1;
    return `${prefix}_new${this.#createdCount}`;
  }
}
