/** The console's table of contents: the screens, by their place in the address, and the role that the paths behind them need. */
export const screens = [
  { path: 'today', title: 'Today', role: 'visitor', load: () => import('./screens/today.js') },
  { path: 'feeds', title: 'Feeds', role: 'visitor', load: () => import('./screens/feeds.js') },
  { path: 'import', title: 'Import', role: 'maintainer', load: () => import('./screens/import.js') },
  { path: 'look-up', title: 'Look-up', role: 'visitor', load: () => import('./screens/look-up.js') },
  { path: 'requests', title: 'Requests', role: 'admin', load: () => import('./screens/requests.js') },
  { path: 'webhooks', title: 'Webhooks', role: 'admin', load: () => import('./screens/webhooks.js') },
  { path: 'mappings', title: 'Mappings', role: 'admin', load: () => import('./screens/mappings.js') },
  { path: 'accounts', title: 'Accounts', role: 'admin', load: () => import('./screens/accounts.js') },
  { path: 'settings', title: 'Settings', role: 'admin', load: () => import('./screens/settings.js') },
  { path: 'audit', title: 'Audit', role: 'admin', load: () => import('./screens/audit.js') },
]
