import type { ApprovalRuleView } from '../../../domain/staff/approval-rules.ts';
import type { ApprovalView } from '../../../domain/staff/approvals.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { Shown } from '../../../panel/staff/room.ts';
import { type Room, roomItemPath } from '../room.ts';

const STATE: Shown<ApprovalView> = {
  name: 'State',
  value: ({ state }) => state,
  as: 'state',
  tones: { open: 'busy', approved: 'busy', done: 'good', failed: 'bad' },
};

const OPERATION: Shown<ApprovalView> = {
  name: 'Operation',
  value: ({ operation }) => operation,
  link: ({ id }) => roomItemPath({ path: CONSOLE_PATHS.approvals }, id),
};

const ABOUT: readonly Shown<ApprovalView>[] = [
  { name: 'Requested by', value: (row) => row.requested_by },
  { name: 'Target', value: ({ target }) => target },
  { name: 'Reason', value: ({ reason }) => reason },
  { name: 'Requested', value: (row) => row.created_at, as: 'time' },
];

const isPending = ({ state }: ApprovalView): boolean => state === 'open' || state === 'approved';

export const APPROVALS_ROOM: Room<ApprovalView> = {
  section: 'approvals',
  path: CONSOLE_PATHS.approvals,
  title: 'Approvals',
  many: 'approvals',
  intro: 'Acts that a second person must approve. They expire after three days.',
  list: 'approvals.list',
  filters: [['state', 'State']],
  columns: [OPERATION, STATE, ...ABOUT],
  item: {
    get: 'approvals.get',
    id: ({ id }) => id,
    title: ({ operation }) => operation,
    state: STATE,
    details: [
      ...ABOUT,
      {
        name: 'Input',
        value: ({ details }) =>
          details === null
            ? 'deleted after 90 days'
            : Object.entries(details)
                .map(([name, value]) => `${name}: ${value}`)
                .join(', '),
      },
      { name: 'Expires', value: (row) => (isPending(row) ? row.expires_at : null), as: 'time' },
      { name: 'Decided by', value: (row) => row.decided_by },
      { name: 'Decided', value: (row) => row.decided_at, as: 'time' },
      { name: 'Error', value: ({ fault }) => fault },
    ],
    acts: [
      {
        operation: 'approvals.approve',
        title: 'Approve',
        button: 'Approve and carry out',
        text:
          'The act runs at once, in the name of the person who asked for it. That person performs an ' +
          'export or a view themselves, once.',
        when: ({ state }) => state === 'open',
        notice: 'approved',
      },
      {
        operation: 'approvals.refuse',
        title: 'Refuse',
        button: 'Refuse',
        text: 'Your own request is withdrawn.',
        isDangerous: true,
        when: ({ state }) => state === 'open',
        notice: 'refused',
      },
    ],
  },
};

export const APPROVAL_RULES_ROOM: Room<ApprovalRuleView> = {
  section: 'approvalRules',
  path: CONSOLE_PATHS.approvalRules,
  title: 'Approval rules',
  many: 'approval rules',
  intro: 'Operations that need a second person. With a rule, changes of rules and staff need one, too.',
  list: 'approval_rules.list',
  columns: [
    {
      name: 'Operation',
      value: ({ id }) => id,
      link: ({ id }) => roomItemPath({ path: CONSOLE_PATHS.approvalRules }, id),
    },
    { name: 'Does', value: ({ summary }) => summary },
    { name: 'Above', value: (row) => row.over_usd, as: 'usd' },
  ],
  creates: [{ operation: 'approval_rules.set', title: 'Require approval', button: 'Require approval' }],
  item: {
    get: 'approval_rules.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    details: [
      { name: 'Does', value: ({ summary }) => summary },
      { name: 'Needs approval above', value: (row) => row.over_usd, as: 'usd' },
      { name: 'Since', value: (row) => row.created_at, as: 'time' },
    ],
    acts: [
      {
        operation: 'approval_rules.remove',
        title: 'Require no approval',
        button: 'Remove rule',
        isDangerous: true,
        to: () => CONSOLE_PATHS.approvalRules,
      },
    ],
  },
};
