/** A server's volumes and snapshots. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath, serverPagePath } from '../../spec/paths.ts';
import type { BackupPolicy } from '../../spec/schemas/backup-policy.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { day, section, statusBadge, table } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatGib } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { protectedNote } from '../parts/protection.ts';
import { backupsSection } from './backups.ts';
import { blockedReason, type ServerPage, serverView } from './layout.ts';

interface StorageData extends ServerPage {
  readonly attached: readonly Volume[];
  /** Detached volumes in its region. */
  readonly free: readonly Volume[];
  readonly snapshots: readonly Snapshot[];
  readonly policy: BackupPolicy;
  /** Snapshots of other servers that are ready to restore. */
  readonly fromOtherServers: readonly Snapshot[];
  readonly forms: FormContext;
}

export function storageView(data: StorageData): View {
  return serverView(
    data,
    'storage',
    html`${part('volumes', section('Volumes', volumesSection(data)))}
${section('Snapshots', snapshotsSection(data))}
${backupsSection(data)}
${part('restore', section('Restore', restoreForm(data)))}`,
  );
}

function volumesSection(data: StorageData): Html {
  const { attached, forms, capabilities } = data;
  if (capabilities.volumes === 0) return html`<p>This server’s hardware doesn’t support volumes.</p>`;
  const blocked = blockedReason(data, 'detach');
  const here = html`<input type="hidden" name="server" value="${data.server.id}">`;
  const label = labelsOf(attached);
  const detach = (volume: Volume) =>
    blocked === null &&
    form(forms, { name: 'detach', key: volume.id }, html`${here}<button class="quiet">Detach</button>`);
  const list =
    attached.length > 0
      ? table({
          caption: 'Attached volumes',
          columns: [
            'Name',
            { name: 'Size', class: 'number' },
            'Device',
            { name: 'Actions', class: 'actions' },
          ],
          rows: attached.map((volume) => [
            html`<a href="${resourcePath(PANEL_PATHS.volumes, volume.id)}">${label(volume)}</a>`,
            formatGib(volume.size_gb),
            html`<code>${volume.device}</code>`,
            detach(volume),
          ]),
        })
      : html`<p>No volumes attached.</p>`;
  return html`${list}
${attached.length > 0 && html`<p class="hint">Unmount a volume in the server before you detach it.</p>`}
${attachForm(data)}`;
}

function attachForm(data: StorageData): Html {
  const { free, forms, server } = data;
  const blocked = blockedReason(data, 'attach');
  if (free.length === 0)
    return html`<p>You have no detached volumes in ${data.regionName}. <a
href="${PANEL_PATHS.volumes}">Create a volume</a></p>`;
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const fields = new Fields(forms, 'attach');
  const label = labelsOf(free);
  const choices = free.map(
    (volume) => [volume.id, `${label(volume)}, ${formatGib(volume.size_gb)}`] as const,
  );
  return form(
    forms,
    { name: 'attach', class: 'row' },
    html`<input type="hidden" name="server" value="${server.id}">${fields.select('volume', 'Volume', {
      choices,
    })}<button>Attach volume</button>`,
  );
}

const TONES = { creating: 'busy', ready: 'good', error: 'bad' } as const;

/** The list and the form are parts of their own, so that a form in use delays nothing else. */
function snapshotsSection(data: StorageData): Html {
  const { capabilities } = data;
  if (!capabilities.snapshots) return html`<p>This server’s hardware doesn’t support snapshots.</p>`;
  const label = labelsOf(data.snapshots);
  const list =
    data.snapshots.length > 0
      ? table({
          caption: 'Snapshots of this server',
          columns: ['Name', 'Type', 'Status', { name: 'Size', class: 'number' }, 'Created', 'Expires'],
          rows: data.snapshots.map((snapshot) => [
            html`<a href="${resourcePath(PANEL_PATHS.snapshots, snapshot.id)}">${label(snapshot)}</a>`,
            snapshot.type === 'backup' ? 'Backup' : 'Manual',
            statusBadge(snapshot.status === 'error' ? 'failed' : snapshot.status, TONES[snapshot.status]),
            snapshot.status === 'ready' ? formatGib(snapshot.size_gb) : '–',
            day(snapshot.created_at),
            snapshot.expires_at ? day(snapshot.expires_at) : 'Never',
          ]),
        })
      : html`<p>No snapshots yet. A snapshot is a copy of the disk at one moment. It doesn’t include
volumes.</p>`;
  return html`${part('snapshots', list)}
${part('snapshot', snapshotForm(data))}`;
}

function snapshotForm(data: StorageData): Html {
  const { forms } = data;
  const blocked = blockedReason(data, 'snapshot');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const fields = new Fields(forms, 'snapshot');
  const parts = html`${fields.text('name', 'Name (optional)', {
    maxLength: LIMITS.nameMaxChars,
    autocomplete: 'off',
    hint: 'Defaults to the current time.',
  })}
${fields.text('expires_at', 'Delete automatically at (UTC, optional)', { type: 'datetime-local' })}
<button>Create snapshot</button>`;
  return html`<h3>Create snapshot</h3>
${form(forms, { name: 'snapshot' }, parts)}`;
}

function restoreForm(data: StorageData): Html {
  const { forms, fromOtherServers } = data;
  const { name: serverName } = data.server;
  const own = data.snapshots.filter(({ status }) => status === 'ready');
  if (own.length + fromOtherServers.length === 0) return html`<p>No snapshots are ready to restore.</p>`;
  const blocked = blockedReason(data, 'restore');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  if (data.server.protection.rebuild) {
    const settings = serverPagePath(data.server.id, 'settings');
    return protectedNote('The disk of this server is protected from restore.', settings);
  }
  const fields = new Fields(forms, 'restore');
  const label = labelsOf([...own, ...fromOtherServers]);
  const text = (snapshot: Snapshot) => `${label(snapshot)}, ${snapshot.created_at.slice(0, 10)}`;
  const choices = [
    ['', 'Choose a snapshot'] as const,
    ...own.map((snapshot) => [snapshot.id, text(snapshot)] as const),
    ...fromOtherServers.map((snapshot) => [snapshot.id, `From another server: ${text(snapshot)}`] as const),
  ];
  const isOpen = data.forms.refused?.name === 'restore' && html` open`;
  return html`<details${isOpen}><summary>Restore the disk from a snapshot</summary>
<p><strong>All data on the disk of ${serverName} is lost.</strong> The snapshot replaces it. Addresses and
volumes are kept.</p>
${form(
  forms,
  { name: 'restore' },
  html`${fields.select('snapshot', 'Snapshot', { required: true, choices })}
${fields.text('name_typed', `Enter ${serverName} to confirm`, {
  required: true,
  maxLength: LIMITS.nameMaxChars,
  autocomplete: 'off',
})}
<button class="danger">Overwrite disk</button>`,
)}</details>`;
}
