-- Created with `start: false`, and not started since.
alter table servers add column never_started boolean not null default false;
