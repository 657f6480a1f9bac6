/** Volumes in the panel. */
import { getVolume, listVolumes } from '../../domain/volumes/find.ts';
import { volumesView, volumeView } from '../../panel/volumes.ts';
import { PANEL_PATHS, thingPath } from '../../spec/paths.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { asTyped, body, number, text, textOrNull, ticked } from './fields.ts';
import { readList } from './list.ts';
import { allRegions, ownServers } from './own-servers.ts';
import { type Look, type PanelPage, restForm } from './page.ts';

const pageOf = ({ id }: Volume): string => thingPath(PANEL_PATHS.volumes, id);

export const VOLUME_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.volumes,
    access: 'customer',
    shows: ['volumes.list'],
    show: showVolumes,
    forms: {
      create: restForm<Volume>({
        does: 'volumes.create',
        body: body({
          name: asTyped,
          size_gb: number,
          region: text,
          encrypted: ticked,
          filesystem: textOrNull,
        }),
        done: (volume) => ({ to: pageOf(volume), notice: 'volume_created' }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.volumes}/{id}`,
    access: 'customer',
    shows: ['volumes.get'],
    show: showVolume,
    forms: {
      change: restForm<Volume>({
        does: 'volumes.update',
        body: body({ name: asTyped, size_gb: number }),
        done: (volume) => ({ to: pageOf(volume), notice: 'saved' }),
      }),
      attach: restForm<Volume>({
        does: 'volumes.attach',
        body: body({ server: text }),
        done: (volume) => ({ to: pageOf(volume), notice: 'volume_attached' }),
      }),
      detach: restForm<Volume>({
        does: 'volumes.detach',
        done: (volume) => ({ to: pageOf(volume), notice: 'volume_detached' }),
      }),
      delete: restForm({
        does: 'volumes.delete',
        done: () => ({ to: PANEL_PATHS.volumes, notice: 'volume_deleted' }),
      }),
    },
  },
];

async function showVolumes(look: Look) {
  const [list, servers, regions] = await Promise.all([
    readList(look, 'volumes.list', (page) => listVolumes(look.service, look.customer(), page)),
    ownServers(look),
    allRegions(look),
  ]);
  const { items: volumes, ...rest } = list;
  return volumesView({ volumes, ...rest, servers, regions, forms: look.forms });
}

async function showVolume(look: Look) {
  const volume = await getVolume(look.service, look.customer(), look.params.id ?? '');
  const servers = await ownServers(look, { region: volume.region });
  return volumeView({ volume, servers, forms: look.forms });
}
