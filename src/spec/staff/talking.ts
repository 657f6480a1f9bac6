/** Announcements on the panel and mailings: what staff can do with them, and their limits. */
import { act, CUSTOMERS, MACHINES, manage, read } from './roles.ts';

export const ANNOUNCEMENT_LEVELS = ['info', 'warning'] as const;
export type AnnouncementLevel = (typeof ANNOUNCEMENT_LEVELS)[number];

/** Who sees an announcement: `everyone` includes visitors who are not signed in. */
export const AUDIENCES = ['customers', 'everyone'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** Everyone in the set gets a service notice. News is for those who have not turned it off. */
export const MAILING_KINDS = ['service', 'news'] as const;
export type MailingKind = (typeof MAILING_KINDS)[number];

export const MAILING_STATES = ['running', 'paused', 'stopped', 'done'] as const;
export type MailingState = (typeof MAILING_STATES)[number];

/** The set of a mailing: customers who meet all of them. None: all customers. */
export interface MailingCriteria {
  readonly servers?: 'yes' | 'no';
  /** One server meets these three. */
  readonly region?: string;
  readonly host?: string;
  readonly plan?: string;
  readonly tag?: string;
  readonly balance_below_usd?: string;
  readonly balance_above_usd?: string;
  readonly frozen?: 'yes' | 'no';
  /** Whether the email address is confirmed. */
  readonly confirmed?: 'yes' | 'no';
}

export const TALKING_LIMITS = {
  titleMaxChars: 120,
  announcementMaxChars: 600,
  linkMaxChars: 500,
  /** A later end is a typing error. */
  announcementMaxDays: 366,
  /** Current and planned ones, and how many of them a page shows. */
  announcementsOpen: 20,
  announcementsShown: 3,
  announcementRetentionDays: 365,
  subjectMaxChars: 120,
  mailingMaxChars: 8_000,
  /** The recipients that a preview lists. */
  recipientsShown: 20,
  /** Mails that are queued in one commit. */
  mailingBatchMax: 100,
  /** The rows of a mailing by customer, and the mailing itself, after that. */
  recipientRetentionDays: 90,
  mailingRetentionDays: 365,
} as const;

export const TALKING_OPERATIONS = {
  'announcements.list': read('announcements list', 'List announcements on the panel'),
  'announcements.get': read('announcements show', 'Show an announcement'),
  'announcements.create': manage('announcements create', 'Publish an announcement', MACHINES),
  'announcements.change': manage('announcements change', 'Change an announcement', MACHINES),
  'announcements.end': manage('announcements end', 'End an announcement', MACHINES),
  'mailings.list': read('mailings list', 'List mailings', CUSTOMERS),
  'mailings.get': read('mailings show', 'Show a mailing and how far it is', CUSTOMERS),
  'mailings.preview': read('mailings preview', 'Show who would get a mailing, and the mail', CUSTOMERS),
  'mailings.create': act('mailings create', 'Mail a set of customers', CUSTOMERS),
  'mailings.pause': manage('mailings pause', 'Pause a mailing', CUSTOMERS),
  'mailings.resume': manage('mailings resume', 'Continue a paused mailing', CUSTOMERS),
  'mailings.stop': manage('mailings stop', 'Stop a mailing for good', CUSTOMERS),
} as const;
