-- Wrong one-time codes that were given with a link. They are no fault of whoever knows the password, so they do not count on
-- the account, where they would close its doors: they use up the link.
alter table mail_links add column wrong_codes int not null default 0;
