import { port } from './socket.ts'

interface ServerPaths {
  /** The name by which the server's processes are found. It is unique to the directory. */
  clusterName: string
  data: string
  socket: string
  logs: string
}

/** Returns the command-line arguments of a server. `overrides` replaces default settings and adds others. */
export function buildServerArguments(
  { clusterName, data, socket, logs }: ServerPaths,
  overrides: Readonly<Record<string, string>> = {},
): string[] {
  const settings = Object.entries({ ...getSettings(socket, logs), ...overrides })
  // More arguments follow the name, so that a search for it doesn't match a longer name.
  return [
    '-c',
    `cluster_name=${clusterName}`,
    '-D',
    data,
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

/** Returns the settings for one machine. Durability stays at PostgreSQL's defaults. */
const getSettings = (socket: string, logs: string) => ({
  listen_addresses: '',
  unix_socket_directories: socket,
  unix_socket_permissions: '0700',
  port: String(port),
  fsync: 'on',
  synchronous_commit: 'on',
  // Moving a service to another shard needs logical decoding.
  wal_level: 'logical',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Several processes with a pool each, the worker, and operators with psql.
  max_connections: '200',
  // Fits the index pages of a shop's lists; the other pages are in the file cache. Suits a machine with 1 GB.
  shared_buffers: '256MB',
  // Avoids a checkpoint per gigabyte during bulk loads. A recovery reads at most this much.
  max_wal_size: '4GB',
  // Random reads of solid-state disks are almost as fast as sequential reads.
  random_page_cost: '1.1',
  // Replaces plans for empty tables within seconds instead of a minute.
  autovacuum_naptime: '5s',
  // PostgreSQL's default of 0.1 analyzes the tables of a new shop all the time.
  autovacuum_analyze_scale_factor: '0.5',
  // One file per weekday, overwritten after a week.
  logging_collector: 'on',
  log_directory: logs,
  log_filename: 'postgres-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  // Omits error details, because they quote records with personal data.
  log_error_verbosity: 'terse',
})
