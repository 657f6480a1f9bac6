-- Whether the server may reach others' mail servers (TCP port 25). The operator opens it for whom he knows.
alter table servers add column mail_allowed boolean not null default false;
