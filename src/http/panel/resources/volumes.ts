/** Volume pages. */
import { getVolume, listVolumes } from '../../../domain/volumes/read.ts';
import { volumesView, volumeView } from '../../../panel/resources/volumes.ts';
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Volume } from '../../../spec/schemas/volume.ts';
import { listAllRegions, listOwnServers } from '../choices.ts';
import {
  bodyReader,
  isChecked,
  number,
  pairs,
  readProtection,
  text,
  textOrNull,
  untrimmedText,
} from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page, restForm } from '../page-types.ts';
import { readLatestActions } from '../servers/actions.ts';

const volumePath = ({ id }: Volume): string => resourcePath(PANEL_PATHS.volumes, id);

export const VOLUME_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.volumes,
    access: 'customer',
    readOperations: ['volumes.list'],
    render: showVolumes,
    forms: {
      create: restForm<Volume>({
        operation: 'volumes.create',
        body: bodyReader({
          name: untrimmedText,
          size_gb: number,
          region: text,
          encrypted: isChecked,
          filesystem: textOrNull,
          labels: pairs,
        }),
        done: (volume) => ({ to: volumePath(volume), notice: 'volume_created' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.volumes}/{id}`,
    access: 'customer',
    readOperations: ['volumes.get', 'actions.list'],
    render: showVolume,
    forms: {
      change: restForm<Volume>({
        operation: 'volumes.update',
        body: bodyReader({ name: untrimmedText, size_gb: number, labels: pairs }),
        done: (volume) => ({ to: volumePath(volume), notice: 'saved' }),
      }),
      protect: restForm<Volume>({
        operation: 'volumes.update',
        body: readProtection('delete'),
        done: (volume) => ({ to: volumePath(volume), notice: 'saved' }),
      }),
      attach: restForm<Volume>({
        operation: 'volumes.attach',
        body: bodyReader({ server: text }),
        done: (volume) => ({ to: volumePath(volume), notice: 'volume_attached' }),
      }),
      detach: restForm<Volume>({
        operation: 'volumes.detach',
        done: (volume) => ({ to: volumePath(volume), notice: 'volume_detached' }),
      }),
      delete: restForm({
        operation: 'volumes.delete',
        done: () => ({ to: PANEL_PATHS.volumes, notice: 'volume_deleted' }),
      }),
    },
  }),
];

async function showVolumes(context: PageContext) {
  const [list, servers, regions] = await Promise.all([
    readList(context, 'volumes.list', (page) => listVolumes(context.service, context.customer(), page)),
    listOwnServers(context),
    listAllRegions(context),
  ]);
  const { items: volumes, ...rest } = list;
  return volumesView({ volumes, ...rest, servers, regions, forms: context.forms });
}

async function showVolume(context: PageContext<{ readonly id: string }>) {
  const volume = await getVolume(context.service, context.customer(), context.params.id);
  const [servers, regions, actions] = await Promise.all([
    listOwnServers(context, { region: volume.region }),
    listAllRegions(context),
    readLatestActions(context, volume.id),
  ]);
  return volumeView({ volume, servers, regions, actions, forms: context.forms });
}
