import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Prepares the machine for podman: one version of cgroups, because crun doesn't support both; no systemd; all files in the directory. */
const setup = `
if [ -d /sys/fs/cgroup/unified ]; then mount -t tmpfs tmpfs /sys/fs/cgroup/unified; fi
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /etc/cni
mount --bind lib /var/lib
ip link set lo up
"$@"`

/** Runs a command in a directory, with separate mounts, network, processes and containers. All of them end with the command. */
export function runOnMachine(home: string, command: readonly string[], stdio: 'inherit' | 'pipe') {
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
  mkdirSync(join(home, 'lib'))
  try {
    return spawnSync('unshare', [...namespaces, 'sh', '-euc', setup, 'sh', ...command], {
      cwd: home,
      // Other image formats lose the health check. Caching steps for another build would take time.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', TMPDIR: home, BUILDAH_FORMAT: 'docker', BUILDAH_LAYERS: 'false' },
      encoding: 'utf8',
      stdio: ['ignore', stdio, stdio],
    })
  } finally {
    // The cgroups are shared with this machine, so remove the empty ones that podman left.
    const args = ['/sys/fs/cgroup', '-depth', '-path', '*/libpod_parent*', '-type', 'd', '-exec', 'rmdir', '{}', '+']
    spawnSync('find', args)
    rmSync(join(home, 'lib'), { recursive: true, force: true })
  }
}
