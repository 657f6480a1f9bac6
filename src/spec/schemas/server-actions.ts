/** Requests of server actions, and the response of rescue. */
import { type Static, Type } from 'typebox';
import { nullable } from './parts.ts';
import { Server } from './server.ts';

export const RebootQuery = Type.Object(
  {
    hard: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Forces a restart instead of asking the guest (ACPI).',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RebuildBody = Type.Object(
  {
    image: Type.Optional(Type.String({ description: 'Image id. Default: the current image.' })),
    ssh_keys: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'SSH key ids. Default: the current keys. Required if the server has none.',
      }),
    ),
    user_data_b64: Type.Optional(
      nullable(
        Type.String({
          description:
            'cloud-init user data in Base64, at most 64 KiB decoded. Earlier user data is not applied again.',
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
      description: 'Id of a ready snapshot in the same region whose disk is not larger.',
    }),
  },
  { additionalProperties: false },
);

export const RescuedServer = Type.Object({
  ...Server.properties,
  rescue: Type.Object(
    {
      username: Type.Literal('root'),
      password: Type.String({ description: 'Shown only once. Valid until the next restart.' }),
    },
    { description: 'Credentials of the rescue system.' },
  ),
});
export type RescuedServer = Static<typeof RescuedServer>;
