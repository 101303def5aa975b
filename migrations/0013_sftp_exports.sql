-- Exports that are fetched from an SFTP server: what it is known by, and who signs in to it.
alter table back_office
  -- Fingerprints of the keys that the server may show, separated by commas.
  add column exports_host_key text,
  -- The path of a private key.
  add column exports_key text,
  -- The password of the user, or of the private key. Encrypted, for this service alone.
  add column exports_password bytea;
