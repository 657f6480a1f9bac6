-- Compatible: adds tables, columns, and kinds that the previous version does not read.
-- Files of abuse reports, and tickets in which no one writes.

-- Names and contents are sealed.
create table abuse_files (
  id             uuid primary key,
  report_id      uuid not null references abuse_reports on delete cascade,
  name_sealed    text not null,
  type           text not null check (type in ('application/pdf', 'image/png', 'image/jpeg', 'message/rfc822',
                                               'application/vnd.tcpdump.pcap', 'text/plain')),
  size_bytes     int not null check (size_bytes between 1 and 5242880),
  content_sealed text not null,
  created_at     timestamptz not null
);
create index abuse_files_by_report on abuse_files (report_id, id);

-- Staff can share these files in a ticket. The rows so far meet the wider conditions.
alter table ticket_files
  drop constraint ticket_files_type_check,
  drop constraint ticket_files_size_bytes_check,
  add constraint ticket_files_type_check
    check (type in ('application/pdf', 'image/png', 'image/jpeg', 'message/rfc822',
                    'application/vnd.tcpdump.pcap', 'text/plain')) not valid,
  add constraint ticket_files_size_bytes_check check (size_bytes between 1 and 5242880) not valid;

-- A ticket that waits is closed when no one wrote for long.
create index tickets_by_idle on tickets (updated_at) where status <> 'closed';
