import { type ChildProcess, spawn } from 'node:child_process'

/** The image's configuration. */
export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
  StopSignal: string
  Volumes: Record<string, object>
  ExposedPorts: Record<string, object>
  Healthcheck: { Test: string[] }
}

/** A read-only root file system, its volume, and the program to run in it. */
export interface ImageRoot {
  root: string
  volume: string
  config: ImageConfig
  environment: Readonly<Record<string, string>>
}

/** Mounts like `compose.yaml`: a root directory that even the user root can't write, /tmp in memory, and the volume. */
const mounts = `
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --rbind /dev "$ROOT/dev"
mount -t proc proc "$ROOT/proc"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount --bind "$VOLUME" "$ROOT/var/lib/tillbridge"
mount -o remount,bind,ro "$ROOT"
if touch "$ROOT/opt/written" 2>/dev/null; then echo 'the root can be written' >&2; exit 9; fi
exec chroot "$ROOT" "$@"`

/** Runs a command like a container: as the image's user, in its working directory, without capabilities or a way to gain them. */
export function runInRoot({ root, volume, config, environment }: ImageRoot, command: readonly string[]): ChildProcess {
  const [uid, gid] = config.User.split(':')
  const privileges = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  const launcher = ['setpriv', ...privileges, 'env', '-i', `--chdir=${config.WorkingDir}`, ...config.Env]
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  return spawn('unshare', ['--mount', 'sh', '-euc', mounts, 'sh', ...launcher, ...variables, ...command], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ROOT: root, VOLUME: volume },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}
