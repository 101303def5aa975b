import { port } from './socket.ts'

interface ServerPaths {
  /** By which its processes are known; it names the directory. */
  clusterName: string
  data: string
  socket: string
  logs: string
}

/** The arguments that a server is started with. `more` replaces or adds settings. */
export function buildServerArguments(
  { clusterName, data, socket, logs }: ServerPaths,
  more: Readonly<Record<string, string>> = {},
): string[] {
  const settings = Object.entries({ ...getSettings(socket, logs), ...more })
  // The name is followed by something, so that its end can be told from a longer name.
  return [
    '-c',
    `cluster_name=${clusterName}`,
    '-D',
    data,
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

/** Durability is PostgreSQL's default and stays so; these are what one machine with one service needs otherwise. */
const getSettings = (socket: string, logs: string) => ({
  listen_addresses: '',
  unix_socket_directories: socket,
  unix_socket_permissions: '0700',
  port: String(port),
  fsync: 'on',
  synchronous_commit: 'on',
  // Services can be moved from here to another database.
  wal_level: 'logical',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Some service processes with a pool each, the worker, and people with psql.
  max_connections: '200',
  // Keeps the index pages of a shop's lists; the rest is left to the machine's file cache. A machine of 1 GB bears it.
  shared_buffers: '256MB',
  // A bulk load then is not slowed by a checkpoint each gigabyte. It is also the most that a recovery has to read.
  max_wal_size: '4GB',
  // Solid-state disks read at random almost as fast as in order.
  random_page_cost: '1.1',
  // Plans that were made while the tables were empty are made anew soon after the first busy seconds, not a minute later.
  autovacuum_naptime: '5s',
  // They change little once there are some thousand rows: with PostgreSQL's tenth, a young shop's tables are looked at all the time.
  autovacuum_analyze_scale_factor: '0.5',
  // A file per weekday, written over a week later.
  logging_collector: 'on',
  log_directory: logs,
  log_filename: 'postgres-%a.log',
  log_rotation_age: '1d',
  log_rotation_size: '0',
  log_truncate_on_rotation: 'on',
  // Without the details of an error, which quote records and with them personal data.
  log_error_verbosity: 'terse',
})
