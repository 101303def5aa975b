<?php
require 'tillbridge.php';

// The file `cursor` holds the cursor of the last run. Without one, the feed starts with the oldest record.
do {
    $cursor = file_exists('cursor') ? '&after_cursor=' . urlencode(file_get_contents('cursor')) : '';
    $page = tillbridge('GET', "/changes?kinds=customer,inventory&limit=1000$cursor");
    foreach ($page['data'] as $change) {
        echo $change['kind'], ' ', $change['id'], ' ', $change['action'], "\n";
    }
    file_put_contents('cursor', $page['meta']['endCursor']);
} while ($page['meta']['hasNextPage']);
