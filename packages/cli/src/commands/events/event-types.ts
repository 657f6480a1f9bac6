/** The known event types, to tell a typo from an event that has not occurred yet. */
import type { EventType } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import type { Option } from '../../options.ts';

/** Exhaustive: a missing type is a compile error. */
const KNOWN_TYPES: Readonly<Record<EventType, true>> = {
  'server.created': true,
  'server.running': true,
  'server.stopped': true,
  'server.rebooted': true,
  'server.rebuilt': true,
  'server.suspended': true,
  'server.destroyed': true,
  'snapshot.ready': true,
  'snapshot.failed': true,
  'volume.attached': true,
  'volume.detached': true,
  'topup.pending': true,
  'topup.confirmed': true,
  'topup.expired': true,
  'billing.charged': true,
  'billing.low_balance': true,
  'token.created': true,
  'token.revoked': true,
  'firewall.applied': true,
  ping: true,
};
/** A ping is sent only to its webhook. */
const TYPES = Object.keys(KNOWN_TYPES).filter((type) => type !== 'ping');
const FAMILIES = [...new Set(TYPES.map(familyOf))];

/** `--type server.running` or `--type server`: one type, or all types with this first word. */
export function eventTypeOption(about: string): Option<((type: string) => boolean) | undefined> {
  return {
    value: 'type',
    about,
    repeatable: true,
    parse: (texts, name) => {
      if (texts === undefined) return undefined;
      const wanted = texts.flatMap((text) => text.split(',')).map((text) => text.replace(/\.\*$/, ''));
      const unknown = wanted.find((word) => !TYPES.includes(word) && !FAMILIES.includes(word));
      if (unknown !== undefined) {
        const known = [...FAMILIES, ...TYPES].join(', ');
        throw new Failure('usage', `${name}: unknown event type "${unknown}"; available: ${known}`);
      }
      return (type) => wanted.includes(type) || wanted.includes(familyOf(type));
    },
  };
}

function familyOf(type: string): string {
  return type.split('.')[0] ?? type;
}
