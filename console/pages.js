/** The screens of the lists. @param {[path: string, title: string, role?: string][]} lists */
const listPages = lists =>
  lists.map(([path, title, role = 'visitor']) => ({
    path,
    group: 'Records',
    title,
    role,
    load: () => import('./pages/lists.js').then(({ createScreen }) => createScreen(path)),
  }))

/** The screens in the order of the navigation. `path`: the first part of the route; `group`: the heading above it; `role`: the role that their API calls need; `needsServices`: only for accounts with several services. */
export const pages = [
  { path: 'overview', group: '', title: 'Overview', role: 'visitor', load: () => import('./pages/overview.js') },
  {
    path: 'services',
    group: '',
    title: 'All services',
    role: 'visitor',
    needsServices: true,
    load: () => import('./pages/services.js'),
  },
  { path: 'search', group: '', title: 'Search', role: 'visitor', load: () => import('./pages/search.js') },
  ...listPages([
    ['orders', 'Orders'],
    ['sales', 'Sales'],
    ['returns', 'Returns'],
    ['customers', 'Customers'],
    ['products', 'Products'],
    ['stock', 'Stock'],
    ['vouchers', 'Gift vouchers', 'admin'],
    ['stores', 'Stores'],
    ['staff', 'Staff'],
  ]),
  { path: 'syncs', group: 'Data', title: 'Syncs', role: 'visitor', load: () => import('./pages/syncs.js') },
  {
    path: 'back-office',
    group: 'Data',
    title: 'Back office',
    role: 'visitor',
    load: () => import('./pages/back-office.js'),
  },
  { path: 'import', group: 'Data', title: 'Import', role: 'maintainer', load: () => import('./pages/import.js') },
  { path: 'mappings', group: 'Data', title: 'Mappings', role: 'admin', load: () => import('./pages/mappings.js') },
  {
    path: 'ecommerce',
    group: 'Data',
    title: 'E-commerce',
    role: 'admin',
    load: () => import('./pages/ecommerce.js'),
  },
  {
    path: 'requests',
    group: 'Developers',
    title: 'Request log',
    role: 'admin',
    load: () => import('./pages/requests.js'),
  },
  {
    path: 'webhooks',
    group: 'Developers',
    title: 'Webhooks',
    role: 'admin',
    load: () => import('./pages/webhooks.js'),
  },
  {
    path: 'second-factor',
    group: 'Admin',
    title: 'Second factor',
    role: 'visitor',
    load: () => import('./pages/second-factor.js'),
  },
  { path: 'accounts', group: 'Admin', title: 'Team', role: 'admin', load: () => import('./pages/accounts.js') },
  { path: 'api-keys', group: 'Admin', title: 'API keys', role: 'admin', load: () => import('./pages/api-keys.js') },
  { path: 'settings', group: 'Admin', title: 'Settings', role: 'admin', load: () => import('./pages/settings.js') },
  { path: 'audit', group: 'Admin', title: 'Audit log', role: 'admin', load: () => import('./pages/audit.js') },
  { path: 'system', group: 'Admin', title: 'System', role: 'admin', load: () => import('./pages/system.js') },
]
