/** What is asked of a server, and what rescue answers. */
import { type Static, Type } from 'typebox';
import { nullable } from './parts.ts';
import { Server } from './server.ts';

export const RebootQuery = Type.Object(
  {
    hard: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Resets the machine at once instead of asking the guest (ACPI).',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RebuildBody = Type.Object(
  {
    image: Type.Optional(Type.String({ description: 'Image id; the present image when left out.' })),
    ssh_keys: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'SSH key ids; the present keys when left out. Needed by a server without any.',
      }),
    ),
    user_data_b64: Type.Optional(
      nullable(
        Type.String({
          description:
            'Base64 cloud-init user-data, up to 64 KiB decoded. What was given before is not applied again.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);
export type RebuildBody = Static<typeof RebuildBody>;

export const RestoreBody = Type.Object(
  {
    snapshot: Type.String({
      description: 'Id of a ready snapshot of the same region whose disk is no larger.',
    }),
  },
  { additionalProperties: false },
);

export const RescuedServer = Type.Object({
  ...Server.properties,
  rescue: Type.Object(
    {
      username: Type.Literal('root'),
      password: Type.String({ description: 'Shown once; it ends with the next reboot.' }),
    },
    { description: 'What signs in to the rescue system.' },
  ),
});
export type RescuedServer = Static<typeof RescuedServer>;
