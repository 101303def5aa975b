/** The screens in the order of the navigation. `path`: the first part of the route; `role`: the role that their API calls need. */
export const pages = [
  { path: 'overview', title: 'Overview', role: 'visitor', load: () => import('./pages/overview.js') },
  { path: 'syncs', title: 'Syncs', role: 'visitor', load: () => import('./pages/syncs.js') },
  { path: 'import', title: 'Import', role: 'maintainer', load: () => import('./pages/import.js') },
  { path: 'search', title: 'Search', role: 'visitor', load: () => import('./pages/search.js') },
  { path: 'requests', title: 'Request log', role: 'admin', load: () => import('./pages/requests.js') },
  { path: 'webhooks', title: 'Webhooks', role: 'admin', load: () => import('./pages/webhooks.js') },
  { path: 'mappings', title: 'Mappings', role: 'admin', load: () => import('./pages/mappings.js') },
  { path: 'accounts', title: 'Accounts', role: 'admin', load: () => import('./pages/accounts.js') },
  { path: 'settings', title: 'Settings', role: 'admin', load: () => import('./pages/settings.js') },
  { path: 'audit', title: 'Audit log', role: 'admin', load: () => import('./pages/audit.js') },
]
