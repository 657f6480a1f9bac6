/** The volumes of a server and its snapshots. */
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, thingPath } from '../spec/paths.ts';
import type { Snapshot } from '../spec/schemas/snapshot.ts';
import type { Volume } from '../spec/schemas/volume.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { day, section, state, table } from './parts.ts';
import { hindrance, type ServerPage, serverView } from './server-frame.ts';

export interface StorageData extends ServerPage {
  readonly attached: readonly Volume[];
  /** Detached ones of its region. */
  readonly free: readonly Volume[];
  readonly snapshots: readonly Snapshot[];
  /** Ready ones of other servers. */
  readonly foreign: readonly Snapshot[];
  readonly forms: FormContext;
}

export function storageView(data: StorageData): View {
  return serverView(
    data,
    'storage',
    html`${section('Volumes', volumes(data))}
${section('Snapshots', snapshots(data))}
${section('Restore', restore(data))}`,
  );
}

function volumes(data: StorageData): Html {
  const { attached, forms, able } = data;
  if (able.volumes === 0) return html`<p>The hardware of this server takes no volumes.</p>`;
  const why = hindrance(data, 'detach');
  const here = html`<input type="hidden" name="server" value="${data.server.id}">`;
  const detach = (volume: Volume) =>
    why === null &&
    form(forms, { name: 'detach', key: volume.id }, html`${here}<button class="quiet">Detach</button>`);
  const list =
    attached.length > 0
      ? table({
          caption: 'Attached volumes',
          columns: [
            'Name',
            { name: 'Size', class: 'number' },
            'Device',
            { name: 'Detach', class: 'actions' },
          ],
          rows: attached.map((volume) => [
            html`<a href="${thingPath(PANEL_PATHS.volumes, volume.id)}">${volume.name}</a>`,
            `${volume.size_gb} GiB`,
            html`<code>${volume.device}</code>`,
            detach(volume),
          ]),
        })
      : html`<p>None is attached.</p>`;
  return html`${list}
${attached.length > 0 && html`<p class="hint">Unmount a volume in the system before you detach it.</p>`}
${attach(data)}`;
}

function attach(data: StorageData): Html {
  const { free, forms, server } = data;
  const why = hindrance(data, 'attach');
  if (free.length === 0)
    return html`<p>No volume in ${data.regionName} is free. <a href="${PANEL_PATHS.volumes}">Make one</a></p>`;
  if (why !== null) return html`<p>${why}</p>`;
  const fields = new Fields(forms, 'attach');
  const choices = free.map(({ id, name, size_gb }) => [id, `${name}, ${size_gb} GiB`] as const);
  return form(
    forms,
    { name: 'attach', class: 'row' },
    html`<input type="hidden" name="server" value="${server.id}">${fields.select('volume', 'Free volume', { choices })}<button>Attach</button>`,
  );
}

const TONES = { creating: 'busy', ready: 'good', error: 'bad' } as const;

function snapshots(data: StorageData): Html {
  const { able, forms } = data;
  if (!able.snapshots) return html`<p>The hardware of this server has no snapshots.</p>`;
  const list =
    data.snapshots.length > 0 &&
    table({
      caption: 'Snapshots of this server',
      columns: ['Name', 'Status', { name: 'Size', class: 'number' }, 'Made', 'Kept until'],
      rows: data.snapshots.map((snapshot) => [
        html`<a href="${thingPath(PANEL_PATHS.snapshots, snapshot.id)}">${snapshot.name}</a>`,
        state(snapshot.status === 'error' ? 'failed' : snapshot.status, TONES[snapshot.status]),
        snapshot.status === 'ready' ? `${snapshot.size_gb} GiB` : '–',
        day(snapshot.created_at),
        snapshot.expires_at ? day(snapshot.expires_at) : 'it is deleted',
      ]),
    });
  const why = hindrance(data, 'snapshot');
  if (why !== null) return html`${list}<p>${why}</p>`;
  const fields = new Fields(forms, 'snapshot');
  const parts = html`${fields.text('name', 'Name', { maxLength: LIMITS.nameMaxChars, autocomplete: 'off', hint: 'Made from the time when left empty.' })}
${fields.text('expires_at', 'Delete it by itself at', { type: 'datetime-local', hint: 'UTC. Empty: never.' })}
<button>Make a snapshot</button>`;
  return html`${list || html`<p>None yet. A snapshot is the disk as it is at one moment, as after a loss of power; volumes are not in it.</p>`}
${form(forms, { name: 'snapshot' }, parts)}`;
}

function restore(data: StorageData): Html {
  const { forms, foreign } = data;
  const { name: serverName } = data.server;
  const own = data.snapshots.filter(({ status }) => status === 'ready');
  if (own.length + foreign.length === 0) return html`<p>There is no snapshot that is ready.</p>`;
  const why = hindrance(data, 'restore');
  if (why !== null) return html`<p>${why}</p>`;
  const fields = new Fields(forms, 'restore');
  const choices = [
    ['', 'Choose one'] as const,
    ...own.map(({ id, name, created_at }) => [id, `${name}, ${created_at.slice(0, 10)}`] as const),
    ...foreign.map(
      ({ id, name, created_at }) => [id, `of another server: ${name}, ${created_at.slice(0, 10)}`] as const,
    ),
  ];
  return html`<details${data.forms.refused?.name === 'restore' && html` open`}><summary>Restore the disk from a snapshot</summary>
<p><strong>What is on the disk of ${serverName} now is lost.</strong> It becomes what it was when the snapshot was made; addresses and
volumes stay.</p>
${form(
  forms,
  { name: 'restore' },
  html`${fields.select('snapshot', 'Snapshot', { required: true, choices })}
${fields.text('name_typed', `Type its name, ${serverName}, to show that you mean this server`, { required: true, maxLength: LIMITS.nameMaxChars, autocomplete: 'off' })}
<button class="danger">Overwrite the disk</button>`,
)}</details>`;
}
