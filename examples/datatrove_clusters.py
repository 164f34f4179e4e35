"""The clustering step of datatrove's MinHash deduplication, by conncomp.

`ClusterDups` takes the place of `MinhashDedupCluster` in a pipeline, with the same arguments. It
reads and writes the same files, byte for byte, by one task as that does:

    LocalPipelineExecutor([ClusterDups("dups", "clusters", save_cluster_id=True)]).run()
"""

from datatrove.pipeline.dedup.minhash import MinhashDedupCluster

import conncomp


class ClusterDups(MinhashDedupCluster):
    """MinHash stage 3: `.dups` files in, `.remove` files out."""

    def run(self, data=None, rank=0, world_size=1):
        """Cluster all documents; pairs of all buckets must be there."""
        if world_size != 1:
            raise ValueError(f"world_size={world_size}: clustering is one task")
        files = len(self.input_folder.list_files(glob_pattern="*.dups"))
        if files % self.config.num_buckets:
            raise ValueError(f"{files} .dups files are not of {self.config.num_buckets} buckets")
        with self.track_time():
            counts = conncomp.cluster_dups(
                self.input_folder,
                self.output_folder,
                save_cluster_id=self.save_cluster_id,
                save_cluster_size=self.save_cluster_size,
                ignore_index_matches=self.ignore_index_matches,
            )
        for name, count in counts.items():
            self.stat_update(name, value=count)
