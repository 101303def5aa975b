-- What the database belongs to.

create table installation (
  single boolean primary key default true check (single),
  secret_digest bytea not null
);
comment on table installation is 'One row, which the first start makes.';
comment on column installation.secret_digest is
  'A hash by a key that comes from the secret: a process with another secret is refused, because no password or PIN would be right for it, '
  'and what is encrypted could not be read.';
